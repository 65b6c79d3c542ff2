import { expect, test } from 'vitest'
import { defaultLimits } from '../contract.js'
import { measureJson } from './measure-json.js'

const limits = { ...defaultLimits, jsonValues: 10_000 }
/** Makes a body long enough to be looked at. */
const long = 'x'.repeat(20_000)

function measure(text: string): void {
  measureJson(new TextEncoder().encode(text), limits)
}

test.each([
  ['lists', '['.repeat(100_000)],
  ['objects', '{"a":'.repeat(100_000)],
  ['lists that end', '['.repeat(100_000) + ']'.repeat(100_000)],
])('refuses %s that stand far too deep in each other', (_, text) => {
  expect(() => measure(text)).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', message: '(body): nested deeper than 64 levels' }),
  )
})

test.each([
  ['empty objects', JSON.stringify(Array.from({ length: 10_000 }, () => ({})))],
  ['numbers', JSON.stringify(Array.from({ length: 10_001 }, () => 1))],
  ['members', JSON.stringify(Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [n, n])))],
])('refuses too many %s', (_, text) => {
  expect(() => measure(text)).toThrow(
    expect.objectContaining({
      code: 'PAYLOAD_TOO_LARGE',
      message: 'The body has more than 10000 values. Send fewer, or raise limits.jsonValues.',
    }),
  )
})

test.each([
  ['brackets and commas in a text', JSON.stringify([long, '[,{,'.repeat(20_000)])],
  [
    'brackets behind an escaped quote',
    JSON.stringify([long, `"${'['.repeat(20_000)}`, `\\${'['.repeat(9)}`]),
  ],
  [
    'lists beside each other',
    JSON.stringify([long, ...Array.from({ length: 4_000 }, () => [[]])].slice(0, 3_000)),
  ],
  ['escaped quotes in a long text', JSON.stringify([`${long}"[\\"${long}\\`, '['.repeat(5_000), long, '['])],
  ['a text without an end', `["${long}\\`],
])('takes %s', (_, text) => {
  expect(() => measure(text)).not.toThrow()
})
