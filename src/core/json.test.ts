import { expect, it } from 'vitest'
import { assertJson } from './json.js'

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
