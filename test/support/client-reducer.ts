import {
  AbstractAgent,
  defaultApplyEvents,
  enforceEvents,
  transformChunks,
  verifyEvents,
} from '@ag-ui/client'
import type { BaseEvent, Message, RunAgentInput } from '@ag-ui/core'
import { from, lastValueFrom, Subject, toArray } from 'rxjs'
import type { AgUiEvent } from '../../src/protocol/index.js'

class Holder extends AbstractAgent {
  run(): never {
    throw new Error('only its messages and state are used')
  }
}

export interface Held {
  messages: Message[]
  state: unknown
}

/** What the real client's reducer holds after a stream that its verifier has accepted. */
export async function reduceWithClient(
  events: readonly AgUiEvent[],
  { messages = [], state = {} }: Partial<Held> = {},
): Promise<Held & { warnings: string[] }> {
  const warnings: string[] = []
  const warn = console.warn
  console.warn = (...args: unknown[]) => warnings.push(args.map(String).join(' '))
  try {
    const agent = new Holder({ threadId: 't', initialMessages: messages, initialState: state })
    const input: RunAgentInput = { threadId: 't', runId: 'r', messages, state, tools: [], context: [] }
    const events$ = from(structuredClone(events) as unknown as BaseEvent[]).pipe(
      enforceEvents(),
      transformChunks(),
      verifyEvents(),
    )
    const held: Held = { messages, state }
    const mutations = await lastValueFrom(defaultApplyEvents(input, events$, agent, []).pipe(toArray()))
    for (const mutation of mutations) {
      if (mutation.messages !== undefined) held.messages = mutation.messages
      if (mutation.state !== undefined) held.state = mutation.state as unknown
    }
    return { ...held, warnings }
  } finally {
    console.warn = warn
  }
}

/** The events the client's verifier accepts, one by one; what it refuses is left out. */
export function onlyValid(events: readonly AgUiEvent[]): AgUiEvent[] {
  const accepted: AgUiEvent[] = []
  let verify = verifier()
  for (const event of events) {
    if (verify(event)) {
      accepted.push(event)
      continue
    }
    verify = verifier()
    accepted.forEach(verify)
  }
  return accepted
}

function verifier(): (event: AgUiEvent) => boolean {
  const source = new Subject<BaseEvent>()
  let failed = false
  source.pipe(verifyEvents()).subscribe({ error: () => (failed = true) })
  return (event) => {
    source.next(event as unknown as BaseEvent)
    return !failed
  }
}
