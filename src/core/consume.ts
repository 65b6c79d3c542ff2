import { isAbortError } from './abort.js'
import type { AbortableOptions } from './abortable.js'
import { closeAll } from './closing.js'
import { nextTurn } from './next-turn.js'

/** So many items are taken before timers and sockets have a turn: nothing else may make an endless source wait. */
const itemsPerTurn = 500

/**
 * Reads a stream to its end and gives what it returns. `take` is called with each item, and may give a promise to wait
 * for before the next.
 *
 * When `signal` aborts, nothing more is taken, the source is closed, and this rejects with the signal's reason once it
 * has closed or the grace time is over, also while the source never settles. What `take` throws, or rejects with, closes the source too.
 * Costs no more per item than the source itself: that is what it is for. Others have a turn now and then, also when the
 * source never waits for anything.
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

// One object and one loop, not a nest of async functions: of a run that waits, this is what stays in memory.
class Reading<T, R> {
  readonly #source: AsyncIterator<T, R>
  readonly #take: (item: T) => Promise<void> | undefined
  readonly #options: AbortableOptions
  /** Set when it was stopped before its time. */
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
        // What arrives when it was stopped is dropped.
        if (this.#isStopped()) break
        if (step.done === true) {
          resolve(step.value)
          return
        }
        const room = this.#takeOrClose(step.value)
        if (room) await room
        if (++taken % itemsPerTurn === 0) await nextTurn()
      }
    } catch (error) {
      if (this.#closing) this.#stray(error)
      else reject(error)
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  /** It may be by now, whatever it was a moment ago. */
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
      // It cannot even be looked at.
    }
    if (isNews) this.#options.onStrayError(error)
  }
}
