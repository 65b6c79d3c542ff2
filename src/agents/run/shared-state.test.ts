import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFold, type AgentEvent } from '../../protocol/index.js'
import { SharedState, isStateChange, stateDifference } from './shared-state.js'

// From text, which knows no -0. Clients refuse patches of `__proto__`.
const state = fc
  .json()
  .filter((text) => !text.includes('__proto__'))
  .map((text) => JSON.parse(text) as unknown)

/** What a client holds after the difference. */
function applied(held: unknown, event: AgentEvent | undefined): unknown {
  const fold = createFold({ state: held })
  if (event) expect(fold.apply(event)).toBeUndefined()
  return fold.state
}

describe('the difference between two states', () => {
  test('brings a client from any state to any other', () => {
    fc.assert(
      fc.property(state, state, (held, current) => {
        expect(applied(held, stateDifference(held, current))).toEqual(current)
      }),
    )
  })

  test('is nothing when there is none', () => {
    fc.assert(
      fc.property(state, (value) => {
        expect(stateDifference(value, structuredClone(value))).toBeUndefined()
      }),
    )
  })

  test('is a patch of what changed, not the whole', () => {
    expect(stateDifference({ a: { b: 1 }, c: [1] }, { a: { b: 2 }, c: [1] })).toEqual({
      type: 'STATE_DELTA',
      delta: [{ op: 'replace', path: '/a/b', value: 2 }],
    })
  })
})

describe('a shared state', () => {
  test('does not touch what it was given, nor hold on to what it was set to', () => {
    const given = { list: [1] }
    const state = new SharedState(given)
    ;(state.current as typeof given).list.push(2)
    expect(given).toEqual({ list: [1] })
    const next = { list: [3] }
    state.set(next)
    next.list.push(4)
    expect(state.current).toEqual({ list: [3] })
  })

  test('drops members that are not there, as JSON does', () => {
    const state = new SharedState({})
    state.set({ a: undefined, b: 1 })
    expect(Object.keys(state.current as object)).toEqual(['b'])
  })

  test.each<[unknown, string]>([
    [undefined, 'state is a value of type undefined, not JSON.'],
    [{ a: [new Map()] }, 'state.a[0] is a Map, not JSON.'],
    [{ a: () => 1 }, 'state.a is a value of type function, not JSON.'],
    [{ n: Infinity }, 'state.n is Infinity, not JSON.'],
  ])('refuses what is not JSON, and stays as it was (%#)', (next, message) => {
    const state = new SharedState({ a: 1 })
    expect(() => state.set(() => next)).toThrow(expect.objectContaining({ code: 'ENCODING_ERROR', message }))
    expect(state.current).toEqual({ a: 1 })
  })

  test('marks its events, and copies of them, as changes of its own', () => {
    const event = new SharedState({}).set({ a: 1 })
    expect(isStateChange(event)).toBe(true)
    expect(isStateChange({ ...event, subagentRunId: 's1' } as AgentEvent)).toBe(true)
    expect(isStateChange({ type: 'STATE_SNAPSHOT', snapshot: {} })).toBe(false)
  })
})
