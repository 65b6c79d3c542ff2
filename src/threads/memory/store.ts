import { systemClock, type Clock } from '../../core/clock.js'
import { toPromise } from '../../core/to-promise.js'
import type { Store } from '../contract.js'
import { createMemoryLeases } from './leases.js'
import { createMemoryLog } from './log.js'
import { createMemoryThreads } from './threads.js'

export interface MemoryStoreOptions {
  /** Dates changes and measures leases. */
  readonly clock?: Clock
}

/**
 * Keeps threads in the memory of this process: for tests, for development, and for servers that may forget. Copies nothing:
 * arguments of `begin` and `commit` belong to the store, are frozen, and must not change afterwards; what is frozen
 * already must be frozen deeply. `load` returns the stored thread itself, frozen too, and no later commit changes it.
 *
 * An expired lease can still write and be renewed until another owner takes the thread. A released lease cannot.
 *
 * @example
 * const store = createMemoryStore()
 * const lease = await store.leases.acquire(key, { owner: 'process-1', ttlMs: 30_000 })
 */
export function createMemoryStore({ clock = systemClock }: MemoryStoreOptions = {}): Store {
  const leases = createMemoryLeases(clock)
  const log = createMemoryLog(leases)
  const { close, ...threads } = createMemoryThreads({ clock, leases, log })
  return {
    threads,
    log,
    leases,
    check: () => Promise.resolve(),
    close: () =>
      toPromise(() => {
        log.close()
        close()
      }),
  }
}
