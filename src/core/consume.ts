import { isAbortError } from './abort.js'
import { type AbortableOptions, closeAll } from './abortable.js'
import { yieldToEventLoop } from './clock.js'

/** Yields to timers and sockets after this many items: a source that never waits must not block them. */
const itemsBeforeYield = 500

/**
 * Reads a stream to its end and resolves with what it returns. Calls `take` with each item, and waits for the promise it
 * may return before the next.
 *
 * When `signal` aborts, takes no more items, closes the source, and rejects with the signal's reason once the
 * source has closed or the grace time is over. An error of `take` closes the source too. Costs no more
 * per item than the source itself, and yields to timers and sockets even if the source never waits.
 */
export function consume<T, R>(
  source: AsyncIterator<T, R>,
  take: (item: T) => Promise<void> | undefined,
  options: AbortableOptions,
): Promise<R> {
  return new Promise((resolve, reject) => {
    void new Reading(source, take, options).run(resolve, reject)
  })
}

// One object and one loop, not nested async functions: a waiting run keeps this in memory.
class Reading<T, R> {
  readonly #source: AsyncIterator<T, R>
  readonly #take: (item: T) => Promise<void> | undefined
  readonly #options: AbortableOptions
  /** Set when reading was stopped before the end. */
  #closing: Promise<void> | undefined

  constructor(
    source: AsyncIterator<T, R>,
    take: (item: T) => Promise<void> | undefined,
    options: AbortableOptions,
  ) {
    this.#source = source
    this.#take = take
    this.#options = options
  }

  async run(resolve: (value: R) => void, reject: (error: unknown) => void): Promise<void> {
    const { signal } = this.#options
    const stop = (): void => {
      this.#closing ??= this.#close()
      void this.#closing.then(() => reject(signal.reason))
    }
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    let taken = 0
    try {
      while (!this.#closing) {
        const step = await this.#source.next()
        // An item that arrives after the stop is dropped.
        if (this.#isStopped()) break
        if (step.done === true) {
          resolve(step.value)
          return
        }
        const taking = this.#takeOrClose(step.value)
        if (taking) await taking
        if (++taken % itemsBeforeYield === 0) await yieldToEventLoop()
      }
    } catch (error) {
      if (this.#closing) this.#stray(error)
      else reject(error)
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  // A method, since the compiler assumes that the field is what it was before the await.
  #isStopped(): boolean {
    return this.#closing !== undefined
  }

  #takeOrClose(item: T): Promise<void> | undefined {
    try {
      return this.#take(item)?.catch((error: unknown) => this.#closeAfter(error))
    } catch (error) {
      return this.#closeAfter(error)
    }
  }

  async #closeAfter(error: unknown): Promise<never> {
    if (!this.#closing) await this.#close()
    throw error
  }

  #close(): Promise<void> {
    return closeAll([this.#source], { ...this.#options, onStrayError: (error) => this.#stray(error) })
  }

  #stray(error: unknown): void {
    let isNews = true
    try {
      isNews = !isAbortError(error, this.#options.signal)
    } catch {
      // The error cannot even be inspected.
    }
    if (isNews) this.#options.onStrayError(error)
  }
}
