import fc from 'fast-check'
import { isDeepStrictEqual } from 'node:util'
import { expect, it } from 'vitest'
import { isEqual } from './is-equal.js'

const parse = (text: string): unknown => JSON.parse(text)

it.each<[unknown, unknown, boolean]>([
  [1, 1, true],
  [1, '1', false],
  [0, false, false],
  [null, undefined, false],
  [null, {}, false],
  [[], {}, false],
  [{}, [], false],
  [[1, [2]], [1, [2]], true],
  [[1, 2], [2, 1], false],
  [[1], [1, 2], false],
  [{ a: 1, b: { c: [] } }, { b: { c: [] }, a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: 1, b: 2 }, { a: 1 }, false],
  [{ a: null }, {}, false],
])('compares %j with %j', (a, b, same) => {
  expect(isEqual(a, b)).toBe(same)
})

it('takes a member that is undefined for one that is not there', () => {
  expect(isEqual({ a: undefined }, {})).toBe(true)
  expect(isEqual({}, { a: undefined })).toBe(true)
  expect(isEqual({ a: undefined }, { a: 1 })).toBe(false)
})

it('sees own members only', () => {
  expect(isEqual({ toString: 1 }, {})).toBe(false)
  expect(isEqual({}, { toString: 1 })).toBe(false)
  expect(isEqual(parse('{"__proto__":{}}'), {})).toBe(false)
  expect(isEqual(parse('{"__proto__":{"a":1}}'), parse('{"__proto__":{"a":1}}'))).toBe(true)
})

it('agrees with the comparison of Node on JSON', () => {
  const json = fc.jsonValue({ maxDepth: 3 }).map((value) => parse(JSON.stringify(value)))
  fc.assert(
    fc.property(json, json, (a, b) => {
      expect(isEqual(a, b)).toBe(isDeepStrictEqual(a, b))
      expect(isEqual(a, structuredClone(a))).toBe(true)
    }),
  )
})
