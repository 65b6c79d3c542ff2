import type { Clock } from '../../core/clock.js'
import { isRecord } from '../../core/json.js'
import { MillraceError } from '../../core/errors.js'

/** How long work waits for another process that holds the file, in milliseconds. Shorter than a lease lasts. */
export const longestWaitMs = 10_000

const firstRetryMs = 1
const longestRetryMs = 50

/** The time before each retry: short at first, since most transactions are. */
export function* retryTimes(): Generator<number, never> {
  for (let ms = firstRetryMs; ; ms = Math.min(2 * ms, longestRetryMs)) yield ms
}

/** SQLITE_BUSY. The upper bits say which kind of it. */
const busyCode = 5

/** Whether another process holds the file. Each driver says so in its own way. */
export function isBusy(error: unknown): boolean {
  const raw = MillraceError.isInstance(error) ? error.cause : error
  if (!isRecord(raw)) return false
  const { code, errcode } = raw
  if (typeof code === 'string' && code.startsWith('SQLITE_BUSY')) return true
  return typeof errcode === 'number' && (errcode & 0xff) === busyCode
}

/** Makes any error of a driver a STORE_ERROR. */
export function toStoreError(error: unknown): MillraceError {
  if (MillraceError.isInstance(error)) return error
  if (isBusy(error)) return busyTooLong(error)
  const reason = error instanceof Error ? error.message : String(error)
  return new MillraceError('STORE_ERROR', `The SQLite store cannot be used: ${reason}`, { cause: error })
}

function busyTooLong(cause: unknown): MillraceError {
  const message = 'Another process has been writing to the thread store for too long. Try again.'
  return new MillraceError('STORE_ERROR', message, { cause, expose: true })
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
