import type { Clock } from '../core/clock.js'
import type { ThreadSnapshot } from './contract.js'

/** Shows snapshots to listeners: once for all events of a tick, and only when something has changed. */
export class Publisher {
  readonly #clock: Clock
  readonly #read: () => ThreadSnapshot
  readonly #listeners = new Set<() => void>()
  #cancel: (() => void) | undefined
  /** The same object until something changes. */
  snapshot: ThreadSnapshot

  /** `read` returns the thread as it is now; its members keep their identity until they change. */
  constructor(clock: Clock, read: () => ThreadSnapshot) {
    this.#clock = clock
    this.#read = read
    this.snapshot = read()
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0
  }

  /** Returns a function that ends it. */
  add(listener: () => void): () => void {
    // The same function may subscribe twice.
    const own = (): void => listener()
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  clear(): void {
    this.#listeners.clear()
  }

  /** Something may have changed. */
  changed(): void {
    this.#cancel ??= this.#clock.schedule(0, () => this.publish())
  }

  publish(): void {
    this.#cancel?.()
    this.#cancel = undefined
    const { snapshot } = this
    const next = this.#read()
    const keys = Object.keys(next) as (keyof ThreadSnapshot)[]
    if (keys.every((key) => next[key] === snapshot[key])) return
    this.snapshot = next
    for (const listener of [...this.#listeners]) listener()
  }
}
