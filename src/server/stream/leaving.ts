import type { Departure } from './sink.js'

/** The departure of one client. */
export class Leaving implements Departure {
  aborted = false
  #listeners: readonly (() => void)[] = nobody

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = [...this.#listeners, listener]
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener)
  }

  /** The client is gone. */
  abort(): void {
    if (this.aborted) return
    this.aborted = true
    for (const listener of this.#listeners) listener()
  }
}

const nobody: readonly (() => void)[] = []
