import { systemClock, type Clock } from './clock.js'

/** How a stream is ended before its time. */
export interface ClosingOptions {
  /** How long to wait for `finally` blocks, in milliseconds. Default 1000. */
  readonly graceMs?: number
  readonly clock?: Clock
  /**
   * Gets every error that no caller can be given any more: of a clean-up, or one that comes after the stream was
   * stopped. An error that only repeats the abort is not one of them. Must not throw.
   */
  readonly onStrayError: (error: unknown) => void
}

/**
 * Calls `return()` of all sources at once and waits until each has settled, but no longer than the grace time: a
 * source that never settles is left behind. Never rejects.
 */
export async function closeAll(
  sources: Iterable<AsyncIterator<unknown, unknown>>,
  { graceMs = 1000, clock = systemClock, onStrayError }: ClosingOptions,
): Promise<void> {
  const closed = Promise.all(
    Array.from(sources, async (source) => {
      try {
        await source.return?.()
      } catch (error) {
        onStrayError(error)
      }
    }),
  )
  await new Promise<void>((resolve) => {
    const cancel = clock.schedule(graceMs, resolve)
    void closed.then(() => {
      cancel()
      resolve()
    })
  })
}

/**
 * The same stream, except that `return()` and `throw()` call `stop` first. A generator's own would wait behind a
 * pending `next()`, for ever when that never settles; `stop` must see to it that it does, and must not throw.
 */
export function withStop<T, R>(
  stream: AsyncGenerator<T, R>,
  stop: () => void | Promise<void>,
): AsyncGenerator<T, R> {
  return {
    next: () => stream.next(),
    async return(value) {
      await stop()
      return stream.return(value)
    },
    async throw(error) {
      await stop()
      return stream.throw(error)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
