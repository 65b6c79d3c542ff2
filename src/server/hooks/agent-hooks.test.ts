import { describe, expect, it } from 'vitest'
import { fetchServer, inputOf } from '../../../test/support/fetch-server.js'
import type { Agent } from '../../agents/index.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Hooks } from './hooks.js'

const hello: AgentEvent = { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm1', delta: 'Hello.' }
const failure = { type: 'RUN_ERROR', code: 'HOOK_ERROR' }

const talker: Agent = {
  name: 'talker',
  description: '',
  async *run() {
    yield await Promise.resolve(hello)
    return { type: 'done' }
  },
}

/** Shows an event of its own to the hooks of the run, as the agents of other runtimes do. */
const foreign: Agent = {
  name: 'foreign',
  description: '',
  hasNativeEvents: true,
  async *run({ services: { native } }) {
    for (const event of (await native?.change?.({ id: 1 })) ?? [{ id: 1 }])
      yield* (await native?.translate?.(event)) ?? [hello]
    return { type: 'done' }
  },
}

const wrong = [[null], [5], ['text'], [hello, undefined], [[hello]]]
const both = wrong.flatMap((value) => [value, Promise.resolve(value)])

describe.each(['runtimeEvent', 'translate', 'event'] as const)('%s', (name) => {
  it.each(both)('fails the run with HOOK_ERROR when its list has what is no event', async (value) => {
    const made = fetchServer({ agents: [talker], hooks: { [name]: () => value } })
    expect((await made.run()).at(-1)).toMatchObject(failure)
    expect(await made.metric('hook_failures_total')).toEqual({ [`hook="${name}"`]: 1 })
  })
})

it.each<[keyof Hooks, unknown]>([
  ['runtimeEvent', null],
  ['runtimeEvent', 5],
  ['runtimeEvent', [null]],
  ['translate', 5],
  ['translate', {}],
  ['translate', 'text'],
  ['translate', [null]],
])('%s fails the run of a foreign runtime with HOOK_ERROR when it gives %j', async (name, value) => {
  const made = fetchServer({ agents: [foreign], hooks: { [name]: () => value } })
  expect((await made.run()).at(-1)).toMatchObject(failure)
})

it.each([
  ['runtimeEvent', () => [{ id: 2 }, { id: 3 }], 2],
  ['runtimeEvent', () => undefined, 0],
  ['translate', () => [hello, hello, hello], 3],
  ['translate', () => [], 0],
  ['translate', () => undefined, 1],
])('%s of a foreign runtime gives as many events as it likes: %s', async (name, hook, count) => {
  const made = fetchServer({ agents: [foreign], hooks: { [name]: hook } })
  const events = await made.run()
  expect(events.at(-1)?.type).toBe('RUN_FINISHED')
  expect(events.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT')).toHaveLength(count)
})

describe('runtimeTimeout', () => {
  const slow: Agent = {
    ...talker,
    async *run() {
      yield hello
      await new Promise(() => undefined)
      return { type: 'done' }
    },
  }

  it.each([5, {}, 'text', [null], [5], hello])(
    'fails the run with HOOK_ERROR when it gives %j',
    async (value) => {
      const limits = { runTimeoutMs: 1000 }
      const hooks = { runtimeTimeout: () => value as never }
      const made = fetchServer({ agents: [slow], hooks, limits })
      const stream = await made.open('/run', { body: inputOf() })
      await stream.until('TEXT_MESSAGE_CONTENT')
      await made.clock.advance(1000)
      // What is stopped may take a second to clean up.
      await made.clock.advance(1000)
      expect((await stream.ended).at(-1)).toMatchObject(failure)
    },
  )
})
