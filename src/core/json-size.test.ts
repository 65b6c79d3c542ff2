import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonSize } from './json-size.js'

const values = fc.jsonValue({ stringUnit: 'grapheme-ascii' })

test('is the length of the text, give or take escapes and empty containers', () => {
  fc.assert(
    fc.property(values, (value) => {
      const json = JSON.stringify(value)
      const escapes = json.match(/\\/g)?.length ?? 0
      const empty = json.match(/\{\}|\[\]/g)?.length ?? 0
      expect(Math.abs(jsonSize(value) - json.length)).toBeLessThanOrEqual(escapes + empty)
    }),
  )
})

test('counts characters, whatever they are in UTF-8', () => {
  expect(jsonSize('é字 a')).toBe(6)
})

test('leaves undefined members out', () => {
  expect(jsonSize({ a: undefined, b: 1 })).toBe('{"b":1}'.length)
})

test('stops above the most that is asked for', () => {
  const list = Array.from({ length: 1000 }, () => ['one', 'two'])
  const size = jsonSize(list, 100)
  expect(size).toBeGreaterThan(100)
  expect(size).toBeLessThan(jsonSize(list))
})

test('measures what is nested deeper than the call stack', () => {
  let deep: unknown = 1
  for (let level = 0; level < 200_000; level++) deep = [deep]
  expect(jsonSize(deep)).toBe(400_001)
})
