import { AbstractAgent, HttpAgent, type BaseEvent, type RunAgentInput } from '@ag-ui/client'
import { Observable } from 'rxjs'
import type { Agent, Control, RunContext } from '../../src/agents/index.js'
import type { AgentEvent } from '../../src/protocol/index.js'
import { fromAgUi, type FromAgUiOptions } from '../../src/remote/index.js'
import { recordingFetch, type RecordedStream } from '../support/record-streams.js'
import { serveAgents, type ClientClass, type ServeAgentsOptions } from '../support/serve-agents.js'
import { bodyOf, serve } from './loopback.js'

/** Agents behind a socket, reached through the real client. What the server sends is linted when the test is over. */
export async function servedRemote(options: ServeAgentsOptions, Client: ClientClass = HttpAgent) {
  const served = await serveAgents(options)
  const streams: RecordedStream[] = []
  const http = (url: string) => new Client({ url, fetch: recordingFetch(streams) })
  return {
    served,
    /** What went over the socket. */
    streams,
    /** A new object each time, as after a restart of our own process. */
    agent: (more: Partial<FromAgUiOptions> = {}, url = served.url): Agent =>
      fromAgUi(http(url), { name: 'remote', description: 'Somewhere else.', ...more }),
  }
}

export type Emitted = { readonly type: string } & Readonly<Record<string, unknown>>
type Script = (input: RunAgentInput, run: number) => readonly Emitted[]

/** An AG-UI agent in this process that emits what it is told, and keeps what it was given. */
export class ScriptedAgUi extends AbstractAgent {
  readonly script: Script
  readonly inputs: RunAgentInput[]

  constructor(script: Script | readonly Emitted[], inputs: RunAgentInput[] = []) {
    super()
    this.script = typeof script === 'function' ? script : () => script
    this.inputs = inputs
  }

  override run(input: RunAgentInput): Observable<BaseEvent> {
    const events = this.script(input, this.inputs.push(input) - 1)
    const { threadId, runId } = input
    return new Observable<BaseEvent>((subscriber) => {
      for (const event of events) {
        const isBoundary = event.type === 'RUN_STARTED' || event.type === 'RUN_FINISHED'
        subscriber.next({ ...(isBoundary ? { threadId, runId } : {}), ...event } as unknown as BaseEvent)
      }
      subscriber.complete()
    })
  }

  override clone(): ScriptedAgUi {
    return new ScriptedAgUi(this.script, this.inputs)
  }
}

/** Events between the start and the end of a run. */
export function whole(...events: readonly Emitted[]): Emitted[] {
  return [{ type: 'RUN_STARTED' }, ...events, { type: 'RUN_FINISHED' }]
}

/** The events of a text. */
export function text(messageId: string, delta: string, more: object = {}): Emitted[] {
  return [
    { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...more },
    { type: 'TEXT_MESSAGE_CONTENT', messageId, delta, ...more },
    { type: 'TEXT_MESSAGE_END', messageId, ...more },
  ]
}

/** An endpoint that answers with these frames, and then closes the connection or stays. */
export async function rawEndpoint(
  frames: (input: RunAgentInput) => readonly (string | object)[],
  end: 'close' | 'stay' = 'close',
  onGone: () => void = () => undefined,
): Promise<string> {
  return serve((request, response) => {
    void (async () => {
      const input = JSON.parse(await bodyOf(request)) as RunAgentInput
      response.on('close', onGone)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const frame of frames(input)) {
        const data = typeof frame === 'string' ? frame : JSON.stringify(frame)
        await new Promise((resolve) => response.write(`data: ${data}\n\n`, resolve))
      }
      if (end === 'close') response.end()
    })()
  })
}

/** An agent written by hand. */
export function handWritten(
  name: string,
  run: (ctx: RunContext) => AsyncGenerator<AgentEvent, Control>,
): Agent {
  return { name, description: 'Written by hand.', run }
}
