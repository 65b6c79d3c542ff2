import { describe, expect, it, test } from 'vitest'
import { fetchServer, inputOf } from '../../../test/support/fetch-server.js'
import { startRun, type Agent, type Control } from '../../agents/index.js'
import type { AgentEvent, AgUiEvent } from '../../protocol/index.js'
import { chainEventHooks, type EventHook } from './agent-hooks.js'
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

const custom = (name: string): AgentEvent => ({ type: 'CUSTOM', name, value: 1 })
const nameOf = (event: AgentEvent): string => (event.type === 'CUSTOM' ? event.name : event.type)

/** An agent that yields these, and notes each and its end. */
async function* agent(names: readonly string[], notes: string[]): AsyncGenerator<AgentEvent, Control> {
  try {
    for (const name of names) {
      await Promise.resolve()
      notes.push(`says ${name}`)
      yield custom(name)
    }
    return { type: 'done' }
  } finally {
    notes.push('closed')
  }
}

/** Runs an agent with these hooks. */
async function read(names: readonly string[], hooks: readonly EventHook[], notes: string[] = []) {
  const said: Agent = { name: 'speaker', description: '', run: () => agent(names, notes) }
  const send = (event: AgUiEvent): undefined => {
    if (event.type === 'CUSTOM') notes.push(`got ${event.name}`)
  }
  const outcome = await startRun(said, 'Speak.', {
    sink: { send, end: send },
    edit: chainEventHooks(hooks),
  }).result
  if (outcome.type === 'failed') throw outcome.error
  return outcome.type
}

const twice: EventHook = (event) => [custom(`${nameOf(event)}1`), custom(`${nameOf(event)}2`)]

describe.each([
  ['sync', (hook: EventHook): EventHook => hook],
  [
    'async',
    (hook: EventHook): EventHook =>
      (event) =>
        Promise.resolve(hook(event)),
  ],
])('with %s hooks', (_, as) => {
  test('each works on all that the one before it gives, and none is called too early', async () => {
    const notes: string[] = []
    const noted: EventHook = (event) => {
      notes.push(`called ${nameOf(event)}`)
      return event
    }
    expect(await read(['a', 'b'], [as(twice), as(noted)], notes)).toBe('completed')
    const one = (name: string) => [`called ${name}`, `got ${name}`]
    expect(notes).toEqual([
      ...['says a', ...one('a1'), ...one('a2')],
      ...['says b', ...one('b1'), ...one('b2'), 'closed'],
    ])
  })

  test('what they leave out is not seen, however much it is', async () => {
    const notes: string[] = []
    const names = [...Array.from({ length: 2_000 }, () => 'no'), 'yes', 'no']
    const leave: EventHook = (event) => (nameOf(event) === 'yes' ? event : undefined)
    await read(names, [as(leave)], notes)
    expect(notes.filter((note) => note.startsWith('got'))).toEqual(['got yes'])
  })

  test('one that fails ends the stream, and the agent is closed', async () => {
    const notes: string[] = []
    const fail: EventHook = (event) => {
      if (nameOf(event) === 'b2') throw new Error('No.')
      return event
    }
    await expect(read(['a', 'b', 'c'], [as(twice), (event) => as(fail)(event)], notes)).rejects.toThrow('No.')
    expect(notes).toEqual(['says a', 'got a1', 'got a2', 'says b', 'got b1', 'closed'])
  })
})

it('is stopped while a hook takes its time, and the agent is closed', async () => {
  const notes: string[] = []
  const said: Agent = { name: 'speaker', description: '', run: () => agent(['a'], notes) }
  const run = startRun(said, 'Speak.', {
    sink: { send: () => undefined, end: () => undefined },
    edit: chainEventHooks([() => new Promise(() => undefined)]),
  })
  await new Promise((resolve) => setImmediate(resolve))
  run.cancel()
  expect((await run.result).type).toBe('cancelled')
  expect(notes).toEqual(['says a', 'closed'])
})
