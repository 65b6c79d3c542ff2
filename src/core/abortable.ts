import { isAbortError } from './abort.js'
import { closeAll, type ClosingOptions } from './closing.js'

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
  const { signal } = options
  let isOpen = false
  let isOver = false
  /** Why it was stopped before its time. */
  let stopped: { readonly reason: unknown } | undefined
  /** Rejects the pending `next()`. */
  let refuse: ((reason: unknown) => void) | undefined
  let current: Promise<IteratorResult<T, R>> | undefined
  let closed: Promise<void> | undefined

  const onStrayError = (error: unknown): void => {
    if (error !== stopped?.reason && !isAbortError(error)) options.onStrayError(error)
  }
  const finish = (): void => {
    isOver = true
    refuse = undefined
    signal.removeEventListener('abort', onAbort)
  }
  const stop = (reason: unknown): Promise<void> => {
    stopped ??= { reason }
    const tell = refuse
    if (tell) finish()
    tell?.(stopped.reason)
    return (closed ??= closeAll([source], { ...options, onStrayError }))
  }
  const onAbort = (): void => void stop(signal.reason)

  // Not an async generator around the source: that would cost every item several turns of the microtask queue.
  const take = (resolve: (step: IteratorResult<T, R>) => void, reject: (error: unknown) => void): void => {
    refuse = reject
    source.next().then(
      (step) => {
        if (stopped) return
        refuse = undefined
        if (step.done === true) finish()
        resolve(step)
      },
      (error: unknown) => {
        if (stopped) return onStrayError(error)
        finish()
        reject(error)
      },
    )
  }

  const next = (): Promise<IteratorResult<T, R>> => {
    if (isOver) return Promise.resolve({ done: true, value: undefined as R })
    // Like a generator, one after the other.
    if (refuse && current) return current.then(next, next)
    if (!isOpen) {
      isOpen = true
      signal.addEventListener('abort', onAbort)
      if (signal.aborted) onAbort()
    }
    if (stopped) {
      finish()
      return rejected(stopped.reason)
    }
    return (current = new Promise(take))
  }

  const end = async (): Promise<void> => {
    if (!isOver || stopped) await stop(new DOMException('The stream was closed.', 'AbortError'))
    finish()
  }

  return {
    next,
    async return(value) {
      await end()
      return { done: true, value: await value }
    },
    async throw(error) {
      await end()
      throw error
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

async function rejected(reason: unknown): Promise<never> {
  await Promise.resolve()
  throw reason
}
