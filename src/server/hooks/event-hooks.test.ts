import { describe, expect, it, test } from 'vitest'
import { startRun, type Agent, type Control } from '../../agents/index.js'
import type { AgentEvent, AgUiEvent } from '../../protocol/index.js'
import { hookedEvents, type EventHook } from './event-hooks.js'

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

/** Runs an agent with these hooks. */
async function read(names: readonly string[], hooks: readonly EventHook[], notes: string[] = []) {
  const said: Agent = { name: 'speaker', description: '', run: () => agent(names, notes) }
  const send = (event: AgUiEvent): undefined => {
    if (event.type === 'CUSTOM') notes.push(`got ${event.name}`)
  }
  const outcome = await startRun(said, 'Speak.', {
    sink: { send, end: send },
    edit: hookedEvents(hooks),
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
  test('each works on all that the one before it gives, and nothing is asked too early', async () => {
    const notes: string[] = []
    const noted: EventHook = (event) => {
      notes.push(`asked ${nameOf(event)}`)
      return event
    }
    expect(await read(['a', 'b'], [as(twice), as(noted)], notes)).toBe('completed')
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

it('is stopped while a hook takes its time, and the agent is closed', async () => {
  const notes: string[] = []
  const said: Agent = { name: 'speaker', description: '', run: () => agent(['a'], notes) }
  const run = startRun(said, 'Speak.', {
    sink: { send: () => undefined, end: () => undefined },
    edit: hookedEvents([() => new Promise(() => undefined)]),
  })
  await new Promise((resolve) => setImmediate(resolve))
  run.cancel()
  expect((await run.result).type).toBe('cancelled')
  expect(notes).toEqual(['says a', 'closed'])
})
