import { describe, expect, test } from 'vitest'
import { isStateChange, SharedState } from './context.js'

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
    [undefined, 'state is not JSON: it is undefined.'],
    [{ a: [new WeakMap()] }, 'state is not JSON: a[0] is a WeakMap.'],
    [() => () => 1, 'state is not JSON: it is a function.'],
  ])('refuses what cannot be JSON, and stays as it was (%#)', (next, message) => {
    const state = new SharedState({ a: 1 })
    expect(() => state.set(() => next)).toThrow(expect.objectContaining({ code: 'ENCODING_ERROR', message }))
    expect(state.current).toEqual({ a: 1 })
  })

  test('marks its events, and copies of them, as changes of its own', () => {
    const event = new SharedState({}).set({ a: 1 })
    expect(isStateChange(event)).toBe(true)
    expect(isStateChange({ ...event, subagentRunId: 's1' })).toBe(true)
    expect(isStateChange({ type: 'STATE_SNAPSHOT', snapshot: {} })).toBe(false)
  })
})
