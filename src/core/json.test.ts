import fc from 'fast-check'
import { isDeepStrictEqual } from 'node:util'
import { expect, it } from 'vitest'
import { assertJson, isEqual } from './json.js'

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

const circle: Record<string, unknown> = {}
circle.self = circle

it.each<[unknown, string]>([
  [{ a: [{ when: new Date(0) }] }, 'saved.a[0].when is a Date, not JSON.'],
  [new Map(), 'saved is a Map, not JSON.'],
  [{ n: NaN }, 'saved.n is NaN, not JSON.'],
  [{ n: 1n }, 'saved.n is a value of type bigint, not JSON.'],
  [[undefined], 'saved[0] is a value of type undefined, not JSON.'],
  [() => 1, 'saved is a value of type function, not JSON.'],
  [{ circle }, 'saved.circle.self contains itself, which is not JSON.'],
])('refuses what JSON would change, with its place: %o', (value, message) => {
  expect(() => assertJson(value, 'saved')).toThrow(message)
})

it('takes what JSON carries, and the same object twice', () => {
  const twice = { x: 1 }
  expect(() =>
    assertJson({ a: [1, 'b', null, true], b: twice, c: twice, d: undefined }, 'saved'),
  ).not.toThrow()
})
