import fc from 'fast-check'
import jsonpatch from 'fast-json-patch'
import { describe, expect, it } from 'vitest'
import { MillraceError } from '../../core/errors.js'
import { patchState } from './patch-state.js'
import { createStateRules } from './state-rules.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

const rules = createStateRules({ readOnly: ['plan'], private: ['secret'] })
const state = { a: { b: [1, 2] }, 'x/y': 1, plan: { step: 1 }, secret: 'hush' }

const failure = (patch: unknown, given: unknown = state): MillraceError => {
  try {
    patchState(given, patch, rules)
  } catch (error) {
    if (MillraceError.isInstance(error)) return error
    throw error
  }
  throw new Error('the patch was taken')
}

describe('a patch', () => {
  it.each<[string, unknown, object]>([
    ['adds a member', [{ op: 'add', path: '/c', value: null }], { c: null }],
    ['inserts into a list', [{ op: 'add', path: '/a/b/0', value: 0 }], { a: { b: [0, 1, 2] } }],
    ['appends to a list', [{ op: 'add', path: '/a/b/-', value: 3 }], { a: { b: [1, 2, 3] } }],
    ['replaces', [{ op: 'replace', path: '/a/b/1', value: 5 }], { a: { b: [1, 5] } }],
    ['removes from a list', [{ op: 'remove', path: '/a/b/0' }], { a: { b: [2] } }],
    ['unescapes a path', [{ op: 'replace', path: '/x~1y', value: 2 }], { 'x/y': 2 }],
    ['moves', [{ op: 'move', from: '/a/b', path: '/a/c' }], { a: { c: [1, 2] } }],
    ['moves within a list', [{ op: 'move', from: '/a/b/0', path: '/a/b/1' }], { a: { b: [2, 1] } }],
    ['copies', [{ op: 'copy', from: '/a/b', path: '/d' }], { d: [1, 2] }],
    ['reads what is read-only', [{ op: 'copy', from: '/plan/step', path: '/d' }], { d: 1 }],
    ['tests what is read-only', [{ op: 'test', path: '/plan', value: { step: 1 } }], {}],
    ['tests the root as it is seen', [{ op: 'test', path: '', value: { ...state, secret: undefined } }], {}],
    ['may be empty', [], {}],
  ])('%s', (_what, patch, changes) => {
    expect(patchState(state, patch, rules)).toEqual({ ...state, ...changes })
  })

  it('removes a member', () => {
    expect(patchState({ a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], rules)).toEqual({ b: 2 })
  })

  it('starts the state of a thread that has none', () => {
    expect(patchState(undefined, [{ op: 'add', path: '/a', value: 1 }], rules)).toEqual({ a: 1 })
  })

  it('works on a list', () => {
    expect(patchState([1], [{ op: 'add', path: '/-', value: 2 }], rules)).toEqual([1, 2])
  })

  it('copies once: what is added to the copy is not in the other', () => {
    const patch = [
      { op: 'copy', from: '/a', path: '/d' },
      { op: 'add', path: '/d/e', value: 1 },
    ]
    expect(patchState(state, patch, rules)).toEqual({ ...state, d: { b: [1, 2], e: 1 } })
  })

  it('moves into another entry of a list, and the entry of the old state stays', () => {
    const before = { list: [{ n: 0 }, { n: 1 }, { n: 2 }] }
    const patch = [{ op: 'move', from: '/list/0', path: '/list/1/moved' }]
    const after = { list: [{ n: 1 }, { n: 2, moved: { n: 0 } }] }
    expect(patchState(before, patch, rules)).toEqual(after)
    expect(before).toEqual({ list: [{ n: 0 }, { n: 1 }, { n: 2 }] })
  })

  it('changes neither the state nor itself', () => {
    const patch = [
      { op: 'add', path: '/c', value: {} },
      { op: 'add', path: '/c/d', value: 1 },
      { op: 'remove', path: '/a/b/0' },
    ]
    const copies = structuredClone([state, patch])
    patchState(state, patch, rules)
    expect([state, patch]).toEqual(copies)
  })
})

describe('the root', () => {
  const own = { plan: { step: 1 }, secret: 'hush' }

  it.each<[string, unknown, object]>([
    ['is replaced', [{ op: 'replace', path: '', value: { n: 1 } }], { n: 1 }],
    ['is added', [{ op: 'add', path: '', value: { n: 1 } }], { n: 1 }],
    ['is removed', [{ op: 'remove', path: '' }], {}],
    ['becomes one of its parts', [{ op: 'copy', from: '/a', path: '' }], { b: [1, 2] }],
    [
      'is replaced by what a client has read and changed',
      [{ op: 'replace', path: '', value: { plan: { step: 1 }, n: 1 } }],
      { n: 1 },
    ],
  ])('%s, and the keys of the server stay', (_what, patch, rest) => {
    expect(patchState(state, patch, rules)).toEqual({ ...own, ...rest })
  })

  it('cannot become a part that has keys of the server', () => {
    const patch = [
      { op: 'add', path: '/mine', value: { 'app:a/b': 1 } },
      { op: 'move', from: '/mine', path: '' },
    ]
    const { code, message } = failure(patch)
    expect([code, message]).toEqual(['INVALID_PATCH', "Operation 1: '/app:a~1b' is not yours to change."])
  })

  it('is copied without what is private', () => {
    expect(patchState(state, [{ op: 'copy', from: '', path: '/all' }], rules)).toEqual({
      ...state,
      all: { a: state.a, 'x/y': 1, plan: state.plan },
    })
  })
})

describe('what is no patch', () => {
  const add = { op: 'add', path: '/c', value: 1 }

  it.each<[string, unknown]>([
    ['an object', {}],
    ['too long', Array.from({ length: 1001 }, () => add)],
  ])('is refused: %s', (_what, patch) => {
    expect(failure(patch)).toMatchObject({ code: 'INVALID_PATCH', status: 422 })
  })

  it.each<[string, unknown]>([
    ['no operation', 5],
    ['an unknown operation', { op: '_get', path: '/a' }],
    ['no path', { op: 'remove' }],
    ['a path without a slash', { op: 'remove', path: 'a' }],
    ['a bad escape', { op: 'remove', path: '/a~2' }],
    ['no value', { op: 'add', path: '/c' }],
    ['no source', { op: 'move', path: '/c' }],
    ['a move into itself', { op: 'move', from: '/a', path: '/a/b/c' }],
    ['a move of the root', { op: 'move', from: '', path: '/c' }],
    ['a list at the root', { op: 'replace', path: '', value: [] }],
    ['a list moved to the root', { op: 'move', from: '/a/b', path: '' }],
    ['a prototype', { op: 'add', path: '/__proto__/x', value: 1 }],
    ['a constructor', { op: 'copy', from: '/constructor', path: '/c' }],
    ['a prototype further down', { op: 'add', path: '/a/prototype', value: 1 }],
    ['a change of what is read-only', { op: 'replace', path: '/plan/step', value: 2 }],
    ['a move of what is read-only', { op: 'move', from: '/plan', path: '/c' }],
    ['a change of what is private', { op: 'add', path: '/app:x', value: 1 }],
    ['a test of what is private', { op: 'test', path: '/secret', value: 'hush' }],
    ['a copy of what is private', { op: 'copy', from: '/secret', path: '/c' }],
    ['a private key that does not exist', { op: 'remove', path: '/temp:none' }],
    ['a root with another value for what is read-only', { op: 'replace', path: '', value: { plan: 2 } }],
    ['a root with a value for what is private', { op: 'add', path: '', value: { secret: 'hush' } }],
    ['a root with a private key that does not exist', { op: 'replace', path: '', value: { 'app:x': 1 } }],
  ])('is refused with its place: %s', (_what, operation) => {
    const error = failure([add, operation])
    expect(error).toMatchObject({ code: 'INVALID_PATCH', status: 422, details: { operation: 1 } })
    expect(error.message).toMatch(/^Operation 1: /)
  })

  it('cannot blow up the state by copying it into itself', () => {
    const patch = Array.from({ length: 60 }, (_, n) => ({ op: 'copy', from: '', path: `/c${n}` }))
    expect(failure(patch)).toMatchObject({ code: 'INVALID_PATCH' })
  })

  it('cannot nest the state without end', () => {
    const patch = Array.from({ length: 300 }, (_, n) => [
      { op: 'add', path: '/next', value: {} },
      { op: 'move', from: n === 0 ? '/a' : '/top', path: '/next/in' },
      { op: 'move', from: '/next', path: '/top' },
    ]).flat()
    expect(failure(patch)).toMatchObject({ code: 'INVALID_PATCH' })
    expect(patchState(state, patch.slice(0, 300), rules)).toHaveProperty('top')
  })
})

describe('a patch that does not fit', () => {
  it.each<[string, unknown]>([
    ['nothing to remove', { op: 'remove', path: '/none' }],
    ['nothing to replace', { op: 'replace', path: '/none', value: 1 }],
    ['nothing to copy', { op: 'copy', from: '/none', path: '/c' }],
    ['nothing to move', { op: 'move', from: '/none', path: '/c' }],
    ['nothing to add to', { op: 'add', path: '/none/deep', value: 1 }],
    ['a number to add to', { op: 'add', path: '/x~1y/deep', value: 1 }],
    ['behind the end of a list', { op: 'add', path: '/a/b/3', value: 1 }],
    ['no index', { op: 'add', path: '/a/b/one', value: 1 }],
    ['an index with a leading zero', { op: 'replace', path: '/a/b/01', value: 1 }],
    ['the end of a list', { op: 'remove', path: '/a/b/-' }],
    ['what objects inherit', { op: 'test', path: '/toString', value: 1 }],
    ['what lists inherit', { op: 'copy', from: '/a/b/length', path: '/c' }],
    ['a failed test', { op: 'test', path: '/a/b', value: [1] }],
    ['a failed test of the root', { op: 'test', path: '', value: {} }],
  ])('is a conflict with its place: %s', (_what, operation) => {
    const error = failure([{ op: 'add', path: '/ok', value: 1 }, operation])
    expect(error).toMatchObject({ code: 'PATCH_CONFLICT', status: 409, details: { operation: 1 } })
    expect(error.message).not.toContain('hush')
  })
})

describe('whatever a patch does', () => {
  const pointer = fc.constantFrom('/a', '/a/b', '/a/b/0', '/a/b/1', '/a/b/-', '/c', '/c/d', '/x~1y', '/e')
  const value = fc.constantFrom<unknown>(1, null, [], { d: 1 }, { b: [3] })
  const operation = fc.oneof(
    fc.record({
      op: fc.constantFrom('add' as const, 'replace' as const, 'test' as const),
      path: pointer,
      value,
    }),
    fc.record({ op: fc.constant('remove' as const), path: pointer }),
    fc.record({ op: fc.constantFrom('move' as const, 'copy' as const), from: pointer, path: pointer }),
  )
  const patches = fc.array(operation, { maxLength: 5 })

  it('what is taken is what the library of the clients makes of it', () => {
    fc.assert(
      fc.property(patches, (patch) => {
        const start = { a: { b: [1, 2] }, 'x/y': 1 }
        const after = outcome(() => patchState(start, patch, rules))
        // The library also takes some that RFC 6902 does not allow, such as the removal of what is not there.
        fc.pre(after !== 'refused')
        // It writes into what it is given.
        const own = JSON.parse(JSON.stringify(patch)) as jsonpatch.Operation[]
        expect(after).toEqual(jsonpatch.applyPatch(start, own, true, false).newDocument)
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('every difference between two states is taken', () => {
    const json = fc
      .dictionary(fc.constantFrom('a', 'b/c', '~d', '0'), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })
      .map((record) => JSON.parse(JSON.stringify(record)) as object)
      .filter((record) => !JSON.stringify(record).includes('__proto__'))
    fc.assert(
      fc.property(json, json, (from, to) => {
        expect(patchState(from, jsonpatch.compare(from, to), rules)).toEqual(to)
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('what is private stays', () => {
    fc.assert(
      fc.property(patches, (patch) => {
        const after = outcome(() => patchState(state, patch, rules))
        if (after !== 'refused') expect(after).toMatchObject({ secret: 'hush', plan: { step: 1 } })
      }),
    )
  })

  function outcome(work: () => unknown): unknown {
    try {
      return work()
    } catch {
      return 'refused'
    }
  }
})

describe('the cost of a patch', () => {
  const rows = Array.from({ length: 1000 }, (_, id) => ({ id }))

  it('is that of what it changes: all else is shared with the state', () => {
    const before = { rows, other: { deep: {} }, count: 0 }
    const patch = [
      { op: 'replace', path: '/count', value: 1 },
      { op: 'add', path: '/rows/-', value: { id: 1000 } },
    ]
    const after = patchState(before, patch, rules) as typeof before
    expect(after.other).toBe(before.other)
    expect(after.rows[0]).toBe(rows[0])
    expect([rows.length, after.rows.length]).toEqual([1000, 1001])
  })

  it('is bounded when entries at the front of a long list push all others', () => {
    const long = { list: Array.from({ length: 300_000 }, () => 1) }
    const patch = Array.from({ length: 1000 }, () => ({ op: 'add', path: '/list/0', value: 1 }))
    const { code, message } = failure(patch, long)
    expect([code, message]).toEqual(['INVALID_PATCH', expect.stringMatching(/moves too many entries/)])
    expect(patchState(long, patch.slice(0, 100), rules)).toMatchObject({ list: { length: 300_100 } })
  })
})
