import type { Message, ResumeEntry, Tool as ToolInfo } from '@ag-ui/core'
import type { Agent } from '../../src/agents/contract.js'
import {
  type Outcome,
  type Run,
  type RunFields,
  type RunOptions,
  type RunRequest,
  run,
} from '../../src/agents/run/run.js'
import { manualClock } from '../../src/core/clock.js'
import { createFold, isRejected, type AgUiEvent, type EventOf } from '../../src/protocol/index.js'
import { assertValidStream } from '../../src/testing/index.js'

/** A run that has been read to its end. */
export interface Played {
  readonly events: readonly AgUiEvent[]
  readonly outcome: Outcome
}

/** Runs an agent, reads all events, and lints them against what a client would have sent. */
export async function play(agent: Agent, request: RunRequest, options: RunOptions = {}): Promise<Played> {
  const running = run(agent, request, options)
  const events: AgUiEvent[] = []
  for await (const event of linted(running, request, options)) events.push(event)
  return { events, outcome: await running.result }
}

/** The events of a run, linted when the reader has had enough, or all. */
export async function* linted(
  running: Run,
  request: RunRequest,
  options: Pick<RunOptions, 'checkpoint'> = {},
): AsyncGenerator<AgUiEvent, void> {
  const events: AgUiEvent[] = []
  let complete = false
  try {
    for await (const event of running) {
      events.push(event)
      yield event
    }
    complete = true
  } finally {
    assertValidStream(events, { input: inputOf(request, running, options), complete })
  }
}

/** The messages that a run has shown and then rejected, as they were before its last snapshot. */
export function rejectedIn(events: readonly AgUiEvent[]): Message[] {
  const fold = createFold()
  for (const event of events) if (event.type !== 'MESSAGES_SNAPSHOT') fold.apply(event)
  return fold.messages.filter(isRejected)
}

/** The RunAgentInput that a request stands for. */
export function inputOf(
  request: RunRequest,
  { threadId, runId }: { readonly threadId: string; readonly runId: string },
  { checkpoint }: Pick<RunOptions, 'checkpoint'> = {},
): unknown {
  const fields: RunFields =
    typeof request === 'string' ? {} : 'length' in request ? { messages: request } : request
  const saved = checkpoint as { readonly messages?: unknown; readonly state?: unknown } | undefined
  return {
    protocolVersion: '1.0',
    ...fields,
    threadId,
    runId,
    messages: fields.messages ?? saved?.messages ?? [],
    state: fields.state ?? saved?.state ?? {},
  }
}

/** A client in front of an agent: it holds the conversation, the state and the checkpoint from run to run. */
export function createClient(agent: Agent, tools: readonly ToolInfo[] = []) {
  const threadId = `thread-${crypto.randomUUID()}`
  let messages: readonly Message[] = []
  let state: unknown = {}
  let checkpoint: unknown
  const send = async (fields: RunFields, options: RunOptions = {}): Promise<Played> => {
    const request = { threadId, messages, state, tools, ...fields }
    const played = await play(agent, request, { checkpoint, ...options })
    const { outcome } = played
    messages = outcome.messages
    state = outcome.state
    // Through text, as it would come from a disk.
    if (outcome.checkpoint) checkpoint = JSON.parse(JSON.stringify(outcome.checkpoint)) as unknown
    else if (outcome.type === 'completed') checkpoint = undefined
    return played
  }
  return {
    threadId,
    get messages() {
      return messages
    },
    get checkpoint() {
      return checkpoint
    },
    say: (content: string, options?: RunOptions) =>
      send({ messages: [...messages, { id: crypto.randomUUID(), role: 'user', content }] }, options),
    /** Answers questions by id: `cancelled`, or the payload. */
    answer: (answers: Readonly<Record<string, unknown>>, options?: RunOptions) =>
      send({ resume: toResume(answers) }, options),
    send,
  }
}

export function toResume(answers: Readonly<Record<string, unknown>>): ResumeEntry[] {
  return Object.entries(answers).map(([interruptId, payload]) =>
    payload === 'cancelled'
      ? { interruptId, status: 'cancelled' }
      : { interruptId, status: 'resolved', ...(payload === undefined ? {} : { payload }) },
  )
}

export function ofType<T extends AgUiEvent['type']>(events: readonly AgUiEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type)
}

/** The results that were sent, as `call: content`, in order. */
export function resultsIn(events: readonly AgUiEvent[]): string[] {
  return ofType(events, 'TOOL_CALL_RESULT').map(({ toolCallId, content }) =>
    [toolCallId, typeof content === 'string' ? content : JSON.stringify(content)].join(': '),
  )
}

/** The questions a run ended with. Throws when it did not end with any. */
export function interruptsOf({ outcome }: Played) {
  if (outcome.type !== 'interrupted') {
    const why = outcome.type === 'failed' ? String(outcome.error) : ''
    throw new Error(`The run was ${outcome.type}, not interrupted. ${why}`)
  }
  return outcome.interrupts
}

export function idOf(played: Played, message?: string): string {
  const found = interruptsOf(played).find((one) => message === undefined || one.message === message)
  if (!found) throw new Error(`Nobody asks '${message ?? ''}'.`)
  return found.id
}

export interface Deferred<T = void> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(error: unknown): void
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

/** Resolves after all that is ready to go on has gone on. */
export function settled(): Promise<void> {
  return manualClock().advance(0)
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
