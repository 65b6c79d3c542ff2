import { isAbortError, linkAbort } from './abort.js'
import { closeAll, withStop, type ClosingOptions } from './closing.js'

/** What stops a stream, and how it is closed then. */
export interface AbortableOptions extends ClosingOptions {
  readonly signal: AbortSignal
}

/**
 * The same stream, except that it can always be stopped, also while the source never settles:
 *
 * - When `signal` aborts, the source is closed, and a pending `next()`, or else the following one, rejects with the
 *   signal's reason at once. An item that arrives at the same moment is dropped.
 * - `return()` and `throw()` close the source and settle when it has closed or the grace time is over. They do not
 *   wait for a pending `next()`: that one rejects with an `AbortError`.
 *
 * Listens to the signal from the first `next()` to the end, with one listener.
 */
export function abortable<T, R>(
  source: AsyncIterator<T, R>,
  options: AbortableOptions,
): AsyncGenerator<T, R> {
  const stop = new AbortController()
  const { signal } = stop
  const onStrayError = (error: unknown) => {
    if (!isAbortError(error, signal)) options.onStrayError(error)
  }
  let wake: ((value?: unknown) => void) | undefined
  let closed: Promise<void> | undefined
  const close = () => {
    wake?.()
    return (closed ??= closeAll([source], { ...options, onStrayError }))
  }
  signal.addEventListener('abort', () => void close())

  async function* relay(): AsyncGenerator<T, R> {
    const release = linkAbort(options.signal, stop)
    try {
      for (;;) {
        signal.throwIfAborted()
        const step = source.next()
        // Not Promise.race with the abort: every item would leave a reaction on that long-lived promise.
        await new Promise<unknown>((resolve) => {
          wake = resolve
          step.then(resolve, resolve)
        })
        if (signal.aborted) step.catch(onStrayError)
        signal.throwIfAborted()
        const item = await step
        if (item.done === true) return item.value
        yield item.value
      }
    } finally {
      release()
    }
  }

  return withStop(relay(), () => {
    stop.abort()
    return close()
  })
}
