import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AgUiEvent } from '../contract.js'
import { createFold } from './fold.js'
import { stateEventBetween } from './state-event.js'

// From text, which knows no -0. Clients refuse patches of `__proto__`.
const state = fc
  .json()
  .filter((text) => !text.includes('__proto__'))
  .map((text) => JSON.parse(text) as unknown)

/** What a client holds after the difference. */
function applied(before: unknown, event: AgUiEvent | undefined): unknown {
  const fold = createFold({ state: before })
  if (event) expect(fold.apply(event)).toBeUndefined()
  return fold.state
}

describe('the difference between two states', () => {
  test('brings a client from any state to any other', () => {
    fc.assert(
      fc.property(state, state, (before, after) => {
        expect(applied(before, stateEventBetween(before, after))).toEqual(after)
      }),
    )
  })

  test('is nothing when there is none', () => {
    fc.assert(
      fc.property(state, (value) => {
        expect(stateEventBetween(value, structuredClone(value))).toBeUndefined()
      }),
    )
  })

  test('is a patch of what changed, not the whole', () => {
    expect(stateEventBetween({ a: { b: 1 }, c: [1] }, { a: { b: 2 }, c: [1] })).toEqual({
      type: 'STATE_DELTA',
      delta: [{ op: 'replace', path: '/a/b', value: 2 }],
    })
  })
})
