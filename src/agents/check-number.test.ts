import { expect, test } from 'vitest'
import { checkNumber, type NumberRange } from './check-number.js'

test.each<[number, NumberRange]>([
  [0, {}],
  [1.5, {}],
  [1, { min: 1, isInteger: true }],
  [1, { max: 1 }],
])('%d is within %o', (value, range) => {
  expect(() => checkNumber('size', value, range)).not.toThrow()
})

test.each<[number, NumberRange, string]>([
  [-1, {}, 'a number of at least 0'],
  [NaN, {}, 'a number of at least 0'],
  [Infinity, {}, 'a number of at least 0'],
  [1.5, { min: 1, isInteger: true }, 'an integer of at least 1'],
  [0, { min: 1, isInteger: true }, 'an integer of at least 1'],
  [2, { max: 1 }, 'a number from 0 to 1'],
])('%d is refused for %o, and the message says what is allowed', (value, range, rule) => {
  expect(() => checkNumber('size', value, range)).toThrow(
    expect.objectContaining({
      code: 'INVALID_AGENT',
      message: `The option 'size' must be ${rule}, not ${value}.`,
      details: { option: 'size', value },
    }),
  )
})
