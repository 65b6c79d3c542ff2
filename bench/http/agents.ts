import { defineAgent, type Agent, type Control, type RunContext } from 'millrace'
import { scriptedModel } from 'millrace/models'
import type { AgentEvent } from 'millrace/protocol'
import { setTimeout as wait } from 'node:timers/promises'
import { monotonicMicros } from './stats.js'

export const deltas = 1_000
export const word = 'tok '
export const pacedDeltas = 250
const pacedMs = 20

const messageId = 'answer'
const start: AgentEvent = { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }
const end: AgentEvent = { type: 'TEXT_MESSAGE_END', messageId }
const say = (delta: string): AgentEvent => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })

type Snapshot = Extract<AgentEvent, { type: 'MESSAGES_SNAPSHOT' }>
/** The part of `RunContext` that the agents use. */
interface Input {
  readonly signal: AbortSignal
  readonly client: Pick<RunContext['client'], 'forwardedProps'>
}

type Work = (ctx: Input) => AsyncGenerator<AgentEvent, Control>

/** Streams a number of words at once. A first run can ask for a history on the thread. */
function talk(count: number): Work {
  return async function* ({ client: { forwardedProps } }) {
    await Promise.resolve()
    const { history } = (forwardedProps ?? {}) as { history?: Snapshot['messages'] }
    if (history) {
      yield { type: 'MESSAGES_SNAPSHOT', messages: history }
      return { type: 'done' }
    }
    yield start
    for (let n = 0; n < count; n++) yield say(word)
    yield end
    return { type: 'done' }
  }
}

/** Streams a word every 20 milliseconds: the time at which it was sent. */
const dictate: Work = async function* ({ signal }) {
  yield start
  for (let n = 0; n < pacedDeltas; n++) {
    await wait(pacedMs, undefined, { signal })
    yield say(String(monotonicMicros()))
  }
  yield end
  return { type: 'done' }
}

/** Streams one word, and then nothing until it is cancelled. */
const ponder: Work = async function* ({ signal }) {
  yield start
  yield say(word)
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  return { type: 'done' }
}

/** The behaviours of the agents, by name. All other cost is the server's. */
export const works: Readonly<Record<string, Work>> = {
  burst: talk(deltas),
  hello: talk(1),
  paced: dictate,
  idle: ponder,
}

/** Handwritten agents. */
export function handwritten(): [Agent, ...Agent[]] {
  const agents = Object.entries(works).map(([name, run]): Agent => ({
    name,
    description: 'Part of a benchmark.',
    run,
  }))
  return agents as [Agent, ...Agent[]]
}

/** The same words from an agent of the kit, streamed by its model. */
export function ofTheKit(): [Agent, ...Agent[]] {
  const pieces = Array.from({ length: deltas }, () => word)
  return [defineAgent({ name: 'burst', model: scriptedModel(() => pieces) })]
}
