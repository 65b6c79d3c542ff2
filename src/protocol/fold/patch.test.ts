import type { JsonPatchOperation } from '@ag-ui/core'
import fc from 'fast-check'
import jsonpatch from 'fast-json-patch'
import { describe, expect, it } from 'vitest'
import { propertyRuns } from '../../../test/support/property-runs.js'
import { applyPatch } from './patch.js'

const pointers = [
  '',
  '/a',
  '/a/b',
  '/a/b/0',
  '/a/b/1',
  '/a/b/2',
  '/a/b/-',
  '/a/b/1/d',
  '/c',
  '/c/d',
  '/x~1y',
  '/~0',
  '/',
]
const pointer = fc.constantFrom(...pointers)
const value = fc.constantFrom<unknown>(1, 'text', null, false, [], [1, { d: 2 }], { d: 1 }, { b: [3, 4] })
const operation = fc.oneof(
  fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value }),
  fc.record({ op: fc.constant('remove'), path: pointer }),
  fc.record({ op: fc.constantFrom('move', 'copy'), from: pointer, path: pointer }),
) as fc.Arbitrary<JsonPatchOperation>
const start = () => ({ a: { b: [1, { d: 5 }, [6]] }, 'x/y': 1, '~': 2, '': 3 })

const copyOf = <T>(given: T): T => JSON.parse(JSON.stringify(given)) as T

/** What the library of AG-UI's own clients makes of it. */
function ofLibrary(document: unknown, patch: readonly JsonPatchOperation[]): unknown {
  try {
    const given = copyOf(patch) as jsonpatch.Operation[]
    return jsonpatch.applyPatch(copyOf(document), given, true).newDocument
  } catch {
    return 'refused'
  }
}

describe('a patch', () => {
  it('that is taken makes what the library of the clients makes of it, and changes nothing else', () => {
    let taken = 0
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 6 }), (patch) => {
        const [document, given] = [start(), copyOf(patch)]
        const result = applyPatch(document, patch)
        expect([document, patch]).toEqual([start(), given])
        if (!result.ok) return
        taken += 1
        expect(result.document).toEqual(ofLibrary(start(), patch))
      }),
      { numRuns: propertyRuns(2_000) },
    )
    expect(taken).toBeGreaterThan(0)
  })

  it('that is refused is refused by the library too, but for what RFC 6902 forbids', () => {
    fc.assert(
      fc.property(operation, (one) => {
        const result = applyPatch(start(), [one])
        if (result.ok || isTakenAgainstTheRules(one)) return
        expect(ofLibrary(start(), [one])).toBe('refused')
      }),
      { numRuns: propertyRuns(2_000) },
    )
  })

  it('of every difference between two states makes the one of the other', () => {
    const json = fc
      .dictionary(fc.constantFrom('a', 'b/c', '~d', '0', ''), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })
      .map(copyOf)
      .filter((record) => !JSON.stringify(record).includes('__proto__'))
    fc.assert(
      fc.property(json, json, (from, to) => {
        const patch = jsonpatch.compare(from, to) as JsonPatchOperation[]
        expect(applyPatch(from, patch)).toEqual({ ok: true, document: to })
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('that moves a value into another entry of its list changes no entry of the old one', () => {
    const document = { list: [{ n: 0 }, { n: 1 }, { n: 2 }] }
    const result = applyPatch(document, [{ op: 'move', from: '/list/0', path: '/list/1/moved' }])
    expect(result).toEqual({ ok: true, document: { list: [{ n: 1 }, { n: 2, moved: { n: 0 } }] } })
    expect(document).toEqual({ list: [{ n: 0 }, { n: 1 }, { n: 2 }] })
  })

  it('shares with the document what it does not touch', () => {
    const document = { a: { x: 1 }, b: { y: 1 } }
    const result = applyPatch(document, [{ op: 'replace', path: '/a/x', value: 2 }])
    expect(result.ok && (result.document as typeof document).b).toBe(document.b)
  })

  it.each<[string, unknown]>([
    ['nothing', null],
    ['an unknown operation', { op: 'merge', path: '/a', value: 1 }],
    ['no path', { op: 'remove' }],
    ['no pointer', { op: 'remove', path: 'a/b' }],
    ['no value', { op: 'add', path: '/c' }],
    ['no source', { op: 'copy', path: '/c' }],
    ['a source that is not there', { op: 'copy', from: '/nothing', path: '' }],
    ['a move into itself', { op: 'move', from: '/a', path: '/a/b/0' }],
    ['a way to a prototype', { op: 'add', path: '/__proto__/polluted', value: 1 }],
    ['a prototype', { op: 'add', path: '/__proto__', value: { polluted: 1 } }],
    ['a way over the constructor', { op: 'add', path: '/constructor/prototype/polluted', value: 1 }],
    ['an inherited member', { op: 'replace', path: '/toString', value: 1 }],
    ['a leading zero', { op: 'remove', path: '/a/b/01' }],
  ])('is refused with a reason: %s', (_, one) => {
    const result = applyPatch(start(), [one as JsonPatchOperation])
    expect(result).toEqual({ ok: false, reason: expect.stringMatching(/.+: .+/) as unknown })
    expect({}).not.toHaveProperty('polluted')
  })

  it('cannot double what it copies without end', () => {
    const double = { op: 'copy', from: '/list', path: '/list/-' } as const
    const result = applyPatch(
      { list: ['x'] },
      Array.from({ length: 60 }, () => double),
    )
    expect(result).toEqual({ ok: false, reason: 'copy: the patch copies too much' })
  })
})

/** The library moves nothing to the root, appends what is moved or copied behind the end of a list, and moves a value into itself. */
function isTakenAgainstTheRules(one: JsonPatchOperation): boolean {
  if (one.op !== 'move' && one.op !== 'copy') return false
  return (
    one.path === '' ||
    one.path.startsWith('/a/b/') ||
    (one.op === 'move' && one.path.startsWith(`${one.from}/`))
  )
}
