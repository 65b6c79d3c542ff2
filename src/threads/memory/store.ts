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
 * what `begin` and `commit` are given belongs to the store, is frozen, and must not be changed afterwards; what is frozen
 * already must be frozen deeply. `load` returns the stored thread itself, frozen too, and no later commit changes it.
 *
 * A lease that has expired can still write and be renewed until somebody takes the thread. A released lease cannot.
 *
 * @example
 * const store = createMemoryStore()
 * const lease = await store.leases.acquire(key, { owner: 'process-1', ttlMs: 30_000 })
 */
export function createMemoryStore({ clock = systemClock }: MemoryStoreOptions = {}): Store {
  const leases = createMemoryLeases(clock)
  const log = createMemoryLog(leases)
  return {
    threads: createMemoryThreads({ clock, leases, log }),
    log,
    leases,
    check: () => Promise.resolve(),
    close: () => toPromise(() => log.close()),
  }
}
