import { isAbortError } from './abort.js'
import type { AbortableOptions } from './abortable.js'
import { closeAll } from './closing.js'

/**
 * Reads a stream to its end and gives what it returns. `take` is called with each item, and may give a promise to wait
 * for before the next.
 *
 * When `signal` aborts, nothing more is taken, the source is closed, and this rejects with the signal's reason once it
 * has closed or the grace time is over, also while the source never settles. What `take` throws closes the source too.
 * Costs no more per item than the source itself: that is what it is for.
 */
export async function consume<T, R>(
  source: AsyncIterator<T, R>,
  take: (item: T) => Promise<void> | undefined,
  options: AbortableOptions,
): Promise<R> {
  const { signal } = options
  const onStrayError = (error: unknown): void => {
    if (!isAbortError(error, signal)) options.onStrayError(error)
  }
  const close = (): Promise<void> => closeAll([source], { ...options, onStrayError })
  let closing: Promise<void> | undefined
  const isStopped = (): boolean => closing !== undefined

  async function readAll(): Promise<R> {
    for (;;) {
      if (isStopped()) return undefined as R
      const step = await source.next()
      if (step.done === true) return step.value
      // One that arrives when it was stopped is dropped.
      const room = isStopped() ? undefined : takeOrClose(step.value)
      if (room) await room
    }
  }
  function takeOrClose(item: T): Promise<void> | undefined {
    try {
      return take(item)
    } catch (error) {
      return close().then(() => {
        throw error
      })
    }
  }

  const end = await new Promise<{ readonly value: R } | { readonly error: unknown }>((resolve) => {
    const stop = (): void => {
      closing ??= close()
      void closing.then(() => resolve({ error: signal.reason }))
    }
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    readAll()
      .finally(() => signal.removeEventListener('abort', stop))
      .then(
        (value) => {
          if (!isStopped()) resolve({ value })
        },
        (error: unknown) => {
          if (isStopped()) onStrayError(error)
          else resolve({ error })
        },
      )
  })
  if ('error' in end) throw end.error
  return end.value
}
