import { expect, test } from 'vitest'
import { pauseBefore, toBackoff } from './backoff.js'

test('pauses stay numbers however many there are', () => {
  expect(pauseBefore(5000, toBackoff({}))).toBe(60_000)
  expect(pauseBefore(5000, toBackoff({ delayMs: 0 }))).toBe(0)
  expect(pauseBefore(5000, toBackoff({ factor: 1 }))).toBe(1000)
})
