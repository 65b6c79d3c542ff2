import { describe, expect, it, test } from 'vitest'
import type { Control } from '../../agents/index.js'
import type { AgentEvent } from '../../protocol/index.js'
import { hookedEvents, type EventHook } from './hooked-events.js'

const custom = (name: string): AgentEvent => ({ type: 'CUSTOM', name, value: 1 })
const nameOf = (event: AgentEvent): string => (event.type === 'CUSTOM' ? event.name : event.type)

/** An agent that says these, and notes that it was asked and closed. */
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

async function read(names: readonly string[], hooks: readonly EventHook[], notes: string[] = []) {
  const events = hookedEvents(agent(names, notes), hooks)
  for (;;) {
    const step = await events.next()
    if (step.done === true) return step.value
    notes.push(`got ${nameOf(step.value)}`)
  }
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
  test('each works on all that the one before it gives, and nothing is asked too early', async () => {
    const notes: string[] = []
    const noted: EventHook = (event) => {
      notes.push(`asked ${nameOf(event)}`)
      return event
    }
    expect(await read(['a', 'b'], [as(twice), as(noted)], notes)).toEqual({ type: 'done' })
    const one = (name: string) => [`asked ${name}`, `got ${name}`]
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

it('closes the agent while a hook takes its time', async () => {
  const notes: string[] = []
  const events = hookedEvents(agent(['a'], notes), [() => new Promise(() => undefined)])
  void events.next()
  await new Promise((resolve) => setImmediate(resolve))
  await events.return({ type: 'cancelled' })
  expect(notes).toEqual(['says a', 'closed'])
})

it('fails as the agent fails', async () => {
  // eslint-disable-next-line require-yield -- it fails first
  const broken = (async function* (): AsyncGenerator<AgentEvent, Control> {
    await Promise.resolve()
    throw new Error('Broken.')
  })()
  await expect(hookedEvents(broken, [twice]).next()).rejects.toThrow('Broken.')
})
