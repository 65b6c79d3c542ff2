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
type Work = (ctx: Pick<RunContext, 'signal' | 'forwardedProps'>) => AsyncGenerator<AgentEvent, Control>

/** Says so many words at once. A thread can be given a history by a first run that asks for it. */
function talk(count: number): Work {
  return async function* ({ forwardedProps }) {
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

/** A word in each 20 milliseconds. It is the time at which it was said. */
const dictate: Work = async function* ({ signal }) {
  yield start
  for (let n = 0; n < pacedDeltas; n++) {
    await wait(pacedMs, undefined, { signal })
    yield say(String(monotonicMicros()))
  }
  yield end
  return { type: 'done' }
}

/** Says one word, and then nothing until it is stopped. */
const ponder: Work = async function* ({ signal }) {
  yield start
  yield say(word)
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  return { type: 'done' }
}

/** What the agents do, by name. All that a server adds to it is its own cost. */
export const works: Readonly<Record<string, Work>> = {
  burst: talk(deltas),
  hello: talk(1),
  paced: dictate,
  idle: ponder,
}

/** Agents by hand. */
export function handwritten(): [Agent, ...Agent[]] {
  const agents = Object.entries(works).map(([name, run]): Agent => ({
    name,
    description: 'Part of a benchmark.',
    run,
  }))
  return agents as [Agent, ...Agent[]]
}

/** The same words from an agent of the kit, whose model says them. */
export function ofTheKit(): [Agent, ...Agent[]] {
  const pieces = Array.from({ length: deltas }, () => word)
  return [defineAgent({ name: 'burst', model: scriptedModel(() => pieces) })]
}
