import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeClientState, type Knowledge } from './merge-state.js'
import { createStateRules } from './state-rules.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

const rules = createStateRules({ readOnly: ['plan'], private: ['secret'] })
const merge = (stored: unknown, client: unknown, knows: Knowledge = 'all'): unknown =>
  mergeClientState({ thread: { state: stored }, client, knows, rules })

describe('a client that knows all', () => {
  it.each<[string, unknown, unknown, unknown]>([
    ['changes a key', { a: 1, b: 2 }, { a: 5, b: 2 }, { a: 5, b: 2 }],
    ['adds a key', { a: 1 }, { a: 1, b: 2 }, { a: 1, b: 2 }],
    ['deletes a key by leaving it out', { a: 1, b: 2 }, { a: 1 }, { a: 1 }],
    ['changes deep inside', { a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, { a: { b: 1, c: 3 } }],
    ['deletes deep inside', { a: { b: 1, c: 2 } }, { a: { b: 1 } }, { a: { b: 1 } }],
    ['empties an object', { a: { b: 1 } }, { a: {} }, { a: {} }],
    ['replaces a list as one', { a: [1, 2] }, { a: [2] }, { a: [2] }],
    ['sets null', { a: 1 }, { a: null }, { a: null }],
    ['replaces an object by a number', { a: { b: 1 } }, { a: 1 }, { a: 1 }],
    ['has nothing to say', { a: 1 }, {}, { a: 1 }],
    ['sends no state', { a: 1 }, undefined, { a: 1 }],
    ['starts the state', undefined, { a: 1 }, { a: 1 }],
    ['leaves what is private', { secret: 1, 'app:x': 2, a: 3 }, { a: 4 }, { secret: 1, 'app:x': 2, a: 4 }],
    ['cannot write what is private', { a: 1 }, { a: 1, 'user:x': 1, secret: 1 }, { a: 1 }],
    ['cannot change what is read-only', { plan: 1 }, { plan: 2, a: 1 }, { plan: 1, a: 1 }],
    ['cannot delete what is read-only', { plan: 1, a: 1 }, { a: 1 }, { plan: 1, a: 1 }],
    ['replaces a list', [1], [1, 2], [1, 2]],
    ['puts a list in the place of nothing', {}, [1], [1]],
    ['puts an object in the place of a list, without server keys', [1], { a: 1, plan: 2 }, { a: 1 }],
    ['cannot put a list in the place of server keys', { plan: 1 }, [1], { plan: 1 }],
  ])('%s', (_what, stored, client, merged) => {
    expect(merge(stored, client)).toEqual(merged)
  })

  it('is compared with what it last saw, when that is known', () => {
    const thread = {
      state: { a: 2, b: { x: 1, y: 2 }, added: true },
      shown: { a: 1, b: { x: 1, y: 1 }, gone: 1 },
    }
    const client = { a: 1, b: { x: 9, y: 1 }, gone: 1 }
    expect(mergeClientState({ thread, client, knows: 'all', rules })).toEqual({
      a: 2,
      b: { x: 9, y: 2 },
      added: true,
    })
  })
})

describe('a client that knows nothing', () => {
  it.each<[string, unknown, unknown, unknown]>([
    ['sets keys and deletes none', { a: 1, b: 2 }, { a: 5, c: 3 }, { a: 5, b: 2, c: 3 }],
    ['sets keys deep inside', { a: { b: 1, c: 2 } }, { a: { b: 5 } }, { a: { b: 5, c: 2 } }],
    ['cannot touch server keys', { plan: 1, secret: 2 }, { plan: 3, secret: 4 }, { plan: 1, secret: 2 }],
    ['cannot put a list in the place of an object', { a: 1 }, [1], { a: 1 }],
    ['cannot put an object in the place of a list', [1], { a: 1 }, [1]],
  ])('%s', (_what, stored, client, merged) => {
    expect(merge(stored, client, 'none')).toEqual(merged)
  })
})

describe('a client that is behind', () => {
  it.each<[string, unknown, unknown, unknown]>([
    [
      'adds keys and changes none',
      { a: 1, b: { x: 1 } },
      { a: 5, b: { y: 2 }, c: 3 },
      { a: 1, b: { x: 1 }, c: 3 },
    ],
    ['deletes nothing', { a: 1, b: 2 }, { a: 1 }, { a: 1, b: 2 }],
    ['cannot add server keys', { a: 1 }, { plan: 1, 'temp:x': 2 }, { a: 1 }],
    ['cannot replace a list', [1], [2], [1]],
  ])('%s', (_what, stored, client, merged) => {
    expect(merge(stored, client, 'some')).toEqual(merged)
  })
})

it('shares what did not change', () => {
  const stored = { a: { deep: [1] }, b: 1, secret: 1 }
  expect(merge(stored, { a: { deep: [1] }, b: 1 })).toBe(stored)
  expect(merge(stored, structuredClone(stored), 'none')).toBe(stored)
  expect(merge(stored, { a: 0 }, 'some')).toBe(stored)
  expect((merge(stored, { a: { deep: [1] }, b: 2 }) as typeof stored).a).toBe(stored.a)
})

it.each<Knowledge>(['all', 'some', 'none'])('keeps a member called __proto__ a member (%s)', (knows) => {
  const client: unknown = JSON.parse('{"__proto__":{"polluted":1},"a":{"__proto__":{"polluted":1},"b":2}}')
  const merged = merge({ a: { b: 1 } }, client, knows) as { a: object }
  for (const node of [merged, merged.a]) {
    expect(Object.getPrototypeOf(node)).toBe(Object.prototype)
    expect(node).not.toHaveProperty('polluted')
  }
})

describe('whatever a client sends', () => {
  const key = fc.constantFrom('a', 'b', 'plan', 'secret', 'app:x', 'temp:y', '__proto__', 'toString')
  const leaf = fc.oneof(fc.nat(2), fc.constant(null), fc.array(fc.nat(2), { maxLength: 2 }))
  const inner = fc.dictionary(fc.constantFrom('a', 'b', 'plan'), leaf, { maxKeys: 3 })
  const record = fc
    .array(fc.tuple(key, fc.oneof(leaf, inner)), { maxLength: 5 })
    .map((entries): Record<string, unknown> => Object.fromEntries(entries))
  const anyState = fc.oneof({ weight: 6, arbitrary: record }, leaf, fc.constant(undefined))
  const knowledge = fc.constantFrom<Knowledge>('all', 'some', 'none')
  const serverPart = (state: unknown): unknown =>
    typeof state === 'object' && state !== null
      ? Object.fromEntries(Object.entries(state).filter(([name]) => rules.isServerKey(name)))
      : {}

  it('the keys of the server stay, and nothing is changed in place', () => {
    fc.assert(
      fc.property(anyState, anyState, knowledge, (stored, client, knows) => {
        const copies = structuredClone([stored, client])
        const merged = merge(stored, client, knows)
        expect(serverPart(merged)).toEqual(serverPart(stored))
        expect([stored, client]).toEqual(copies)
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('the visible part is what a client that knows all has said', () => {
    fc.assert(
      fc.property(record, record, (stored, client) => {
        const own = Object.fromEntries(Object.entries(client).filter(([name]) => !rules.isServerKey(name)))
        fc.pre(Object.keys(own).length > 0)
        const merged = merge(stored, client) as Record<string, unknown>
        const ours = Object.entries(merged).filter(([name]) => !rules.isServerKey(name))
        expect(Object.fromEntries(ours)).toEqual(own)
      }),
    )
  })

  it('sending what was merged once more changes nothing', () => {
    fc.assert(
      fc.property(record, record, knowledge, (stored, client, knows) => {
        const once = merge(stored, client, knows)
        expect(merge(once, rules.visible(once))).toBe(once)
      }),
    )
  })
})
