import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findJsonError } from './json-position.js'

test.each([
  ['', 0],
  ['   ', 3],
  ['{', 1],
  ['{"a":}', 5],
  ['{"a":1,}', 7],
  ['{"a" 1}', 5],
  ['{a:1}', 1],
  ["{'a':1}", 1],
  ['[1,2', 4],
  ['[1,]', 3],
  ['[1 2]', 3],
  ['[,1]', 1],
  ['{"a":1]', 6],
  ['{"a":1} x', 8],
  ['nul', 0],
  ['[tru]', 1],
  ['[01]', 2],
  ['[1.]', 2],
  ['[+1]', 1],
  ['[NaN]', 1],
  ['"abc', 4],
  ['"a\nb"', 2],
  ['["\\x"]', 2],
  ['["\\u12g4"]', 2],
  ['\u00a0{}', 0],
  ['// no\n1', 0],
])('%j stops being JSON at %i', (text, position) => {
  expect(findJsonError(text)).toBe(position)
})

test('finds an error in exactly what JSON.parse refuses, and none after the end', () => {
  const broken = fc
    .tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', '"', '\\', ',', ':', '[', ']', '{', '}', '-', '0', '.', 'e', '\n', 'x'),
    )
    .map(([json, seed, piece]) => {
      const at = seed % (json.length + 1)
      return json.slice(0, at) + piece + json.slice(piece === '' ? at + 1 : at)
    })
  fc.assert(
    fc.property(fc.oneof(fc.json(), broken), (text) => {
      const position = findJsonError(text)
      expect(position === undefined).toBe(isJson(text))
      if (position !== undefined) expect(position).toBeLessThanOrEqual(text.length)
    }),
    { numRuns: 2000, seed: 7 },
  )
})

test('takes strings and nesting of any size', () => {
  expect(findJsonError(`["${'x'.repeat(1_000_000)}"`)).toBe(1_000_003)
  expect(findJsonError('['.repeat(500_000))).toBe(500_000)
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
