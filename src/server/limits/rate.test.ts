import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { manualClock } from '../../core/clock.js'
import { createRate, type Rate } from './rate.js'

/** How many of these attempts are let through. */
function pass(rate: Rate, key: string, attempts: number): number {
  let passed = 0
  for (let n = 0; n < attempts; n++) {
    if (rate.wait(key) > 0) continue
    rate.add(key, 1)
    passed++
  }
  return passed
}

test('lets a sixth of a minute through at once, and then as many as the rate says', async () => {
  const clock = manualClock(1_000)
  const rate = createRate(60, clock)
  expect(pass(rate, 'ann', 100)).toBe(10)
  expect(rate.wait('ann')).toBe(1_000)
  await clock.advance(999)
  expect(pass(rate, 'ann', 100)).toBe(0)
  await clock.advance(1)
  expect(pass(rate, 'ann', 100)).toBe(1)
  await clock.advance(3_600_000)
  expect(pass(rate, 'ann', 100)).toBe(10)
})

test('keeps over a long time to the rate, however it is asked', async () => {
  const clock = manualClock()
  const rate = createRate(600, clock)
  let passed = 0
  for (let n = 0; n < 600; n++) {
    passed += pass(rate, 'ann', 7)
    await clock.advance(100)
  }
  // A minute, and what may come at once.
  expect(passed).toBeGreaterThanOrEqual(600)
  expect(passed).toBeLessThanOrEqual(700)
})

test('lets one through at a rate of less than one in a minute', async () => {
  const clock = manualClock()
  const rate = createRate(0.5, clock)
  expect(pass(rate, 'ann', 5)).toBe(1)
  await clock.advance(119_999)
  expect(pass(rate, 'ann', 5)).toBe(0)
  await clock.advance(1)
  expect(pass(rate, 'ann', 5)).toBe(1)
})

test('makes who took too much wait for it', async () => {
  const clock = manualClock()
  const rate = createRate(60, clock)
  rate.add('ann', 160)
  expect(rate.wait('ann')).toBe(151_000)
  await clock.advance(151_000)
  expect(pass(rate, 'ann', 5)).toBe(1)
})

test('counts each key for itself', () => {
  const rate = createRate(60, manualClock())
  expect(pass(rate, 'ann', 20)).toBe(10)
  expect(pass(rate, 'bob', 20)).toBe(10)
})

test('never refuses without a limit', () => {
  const rate = createRate(Infinity, manualClock())
  rate.add('ann', 1e9)
  expect(rate.wait('ann')).toBe(0)
})

test('locks nobody out when the clock is set back', () => {
  let now = 10_000_000
  const rate = createRate(60, { ...manualClock(), now: () => now })
  expect(pass(rate, 'ann', 20)).toBe(10)
  now -= 3_600_000
  expect(pass(rate, 'ann', 20)).toBe(10)
})

test('remembers who comes often while a million others come once, in bounded memory', () => {
  const rate = createRate(6, manualClock())
  rate.add('ann', 1)
  const before = heapAfterCollection()
  for (let n = 0; n < 1_000_000; n++) {
    rate.add(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, 1)
    if (n % 10_000 === 0) rate.add('ann', 1)
  }
  expect(heapAfterCollection() - before).toBeLessThan(20 * 1024 * 1024)
  // A hundred at six a minute.
  expect(rate.wait('ann')).toBeGreaterThan(900_000)
})

/** Bytes that are in use. */
function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}
