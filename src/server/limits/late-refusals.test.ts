import { expect, it } from 'vitest'
import { manualClock } from '../../core/clock.js'
import { createLateRefusals } from './late-refusals.js'

it('lets refusals wait, and no more than a thousand at once', async () => {
  const clock = manualClock()
  const late = createLateRefusals(clock)
  let answered = 0
  const refuse = (): void => void late().then(() => answered++)
  for (let n = 0; n < 1_000; n++) refuse()
  await clock.advance(200)
  expect(answered).toBe(0)
  for (let n = 0; n < 3; n++) refuse()
  await clock.advance(0)
  expect(answered).toBe(3)
  await clock.advance(100)
  expect([answered, clock.pending]).toEqual([1_003, 0])
  refuse()
  await clock.advance(0)
  expect(answered).toBe(1_003)
})
