import { expect, it } from 'vitest'
import type { Agent } from '../../src/index.js'
import type { AgentEvent } from '../../src/protocol/index.js'
import type { Hooks } from '../../src/server/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { inputOf, serving, user } from './support-server.js'
import { openStream } from './support-stream.js'

const text: AgentEvent = { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm1', delta: 'x' }

/** It never waits. The bound is for this process: a loop that lets nobody have a turn could not be stopped. */
function endless(event: AgentEvent): Agent {
  return {
    name: 'endless',
    description: 'Never ends.',
    // eslint-disable-next-line @typescript-eslint/require-await -- that it waits for nothing is the point
    async *run() {
      for (let count = 0; count < 3_000_000; count++) yield { ...event }
      return { type: 'done' }
    },
  }
}

const cases: readonly (readonly [name: string, event: AgentEvent, hooks: Hooks])[] = [
  ['are all taken out by a hook', text, { event: () => undefined }],
  ['are all taken out by an async hook', text, { event: () => Promise.resolve(undefined) }],
  ['say nothing', { ...text, delta: '' }, {}],
  ['change nothing', { type: 'STATE_DELTA', delta: [] }, {}],
  ['are private', { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/temp:x', value: 1 }] }, {}],
  ['are no events', { type: 'NOPE' } as unknown as AgentEvent, {}],
  ['are sent', text, {}],
]

it.each(cases)(
  'an agent that never waits is stopped in time when its events %s',
  async (_name, event, hooks) => {
    const made = await serving({ agents: [endless(event)], hooks, limits: { runTimeoutMs: 200 } })
    const body = inputOf({ messages: [user('u1', 'Go.')] })
    const stream = await openStream(`${made.url}/run`, { body })
    await stream.whole()
    expect(stream.events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'EXECUTION_TIMEOUT' })
    assertValidStream(stream.events, { input: body })
  },
)
