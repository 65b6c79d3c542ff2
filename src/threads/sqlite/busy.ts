import type { Clock } from '../../core/clock.js'
import { isBusy, toStoreError } from './driver-errors.js'

/** How long work waits for another process that holds the file, in milliseconds. Shorter than a lease lasts. */
export const longestWaitMs = 10_000

const firstRetryMs = 1
const longestRetryMs = 50

/** The time before each retry: short at first, since most transactions are. */
export function* retryTimes(): Generator<number, never> {
  for (let ms = firstRetryMs; ; ms = Math.min(2 * ms, longestRetryMs)) yield ms
}

/**
 * Does work at once, and again for as long as another process holds the file. Waits without blocking: SQLite's own
 * `busy_timeout` would stop everything in this process. Rejects with STORE_ERROR.
 */
export function retryWhileBusy<T>(work: () => T | Promise<T>, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const deadline = clock.now() + longestWaitMs
    const retries = retryTimes()
    const attempt = (): void => {
      try {
        resolve(work())
      } catch (error) {
        if (isBusy(error) && clock.now() < deadline) clock.schedule(retries.next().value, attempt)
        else reject(toStoreError(error))
      }
    }
    attempt()
  })
}
