import { isAbortError } from './abort.js'
import { systemClock, type Clock } from './clock.js'

export interface AbortableOptions extends ClosingOptions {
  readonly signal: AbortSignal
}

/**
 * Makes a stream that can always be stopped, also while the source never settles:
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
  return new AbortableStream(source, options)
}

// Not an async generator around the source: that would cost every item several turns of the microtask queue.
class AbortableStream<T, R> implements AsyncGenerator<T, R> {
  readonly #source: AsyncIterator<T, R>
  readonly #options: AbortableOptions
  #isOpen = false
  #isOver = false
  /** Set when the stream was stopped before its end. */
  #stopped: { readonly reason: unknown } | undefined
  /** Rejects the pending `next()`. */
  #refuse: ((reason: unknown) => void) | undefined
  #current: Promise<IteratorResult<T, R>> | undefined
  #closed: Promise<void> | undefined
  #onAbort: (() => void) | undefined

  constructor(source: AsyncIterator<T, R>, options: AbortableOptions) {
    this.#source = source
    this.#options = options
  }

  next(): Promise<IteratorResult<T, R>> {
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined as R })
    // Like a generator, one after the other.
    if (this.#refuse && this.#current) {
      const next = (): Promise<IteratorResult<T, R>> => this.next()
      return this.#current.then(next, next)
    }
    if (!this.#isOpen) this.#listen()
    if (this.#stopped) {
      this.#finish()
      return rejectWith(this.#stopped.reason)
    }
    return (this.#current = new Promise((resolve, reject) => this.#take(resolve, reject)))
  }

  async return(value: R | PromiseLike<R>): Promise<IteratorResult<T, R>> {
    await this.#end()
    return { done: true, value: await value }
  }

  async throw(error: unknown): Promise<IteratorResult<T, R>> {
    await this.#end()
    throw error
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #listen(): void {
    const { signal } = this.#options
    this.#isOpen = true
    this.#onAbort = () => void this.#stop(signal.reason)
    signal.addEventListener('abort', this.#onAbort)
    if (signal.aborted) this.#onAbort()
  }

  #take(resolve: (step: IteratorResult<T, R>) => void, reject: (error: unknown) => void): void {
    this.#refuse = reject
    this.#source.next().then(
      (step) => {
        if (this.#stopped) return
        this.#refuse = undefined
        if (step.done === true) this.#finish()
        resolve(step)
      },
      (error: unknown) => {
        if (this.#stopped) return this.#stray(error)
        this.#finish()
        reject(error)
      },
    )
  }

  #stop(reason: unknown): Promise<void> {
    this.#stopped ??= { reason }
    const tell = this.#refuse
    if (tell) this.#finish()
    tell?.(this.#stopped.reason)
    const onStrayError = (error: unknown): void => this.#stray(error)
    return (this.#closed ??= closeAll([this.#source], { ...this.#options, onStrayError }))
  }

  async #end(): Promise<void> {
    if (!this.#isOver || this.#stopped)
      await this.#stop(new DOMException('The stream was closed.', 'AbortError'))
    this.#finish()
  }

  #finish(): void {
    this.#isOver = true
    this.#refuse = undefined
    if (this.#onAbort) this.#options.signal.removeEventListener('abort', this.#onAbort)
  }

  #stray(error: unknown): void {
    if (error !== this.#stopped?.reason && !isAbortError(error)) this.#options.onStrayError(error)
  }
}

async function rejectWith(reason: unknown): Promise<never> {
  await Promise.resolve()
  throw reason
}

/** How a stream is closed before its end. */
export interface ClosingOptions {
  /** How long to wait for `finally` blocks, in milliseconds. Default 1000. */
  readonly graceMs?: number
  readonly clock?: Clock
  /**
   * Called with every error that reaches no caller: of a clean-up, or after the stream was stopped. Errors that
   * only repeat the abort are left out. Must not throw.
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
 * Makes a stream whose `return()` and `throw()` call `stop` first. A generator's own would wait behind a pending
 * `next()`, for ever when that never settles; `stop` must make it settle, and must not throw.
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

/** Whether a value is an async generator, of any realm. */
export function isAsyncGenerator(value: unknown): value is AsyncGenerator<unknown, unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value
}
