import { systemClock, type Clock } from '../../core/clock.js'
import { createMemoryLeases } from './leases.js'
import { createMemoryLog } from './log.js'
import { toPromise } from '../../core/to-promise.js'
import { createMemoryThreads } from './threads.js'
import type { Store } from '../contract.js'

/** How a store in memory is set up. */
export interface MemoryStoreOptions {
  /** What changes are dated and leases measured by. */
  readonly clock?: Clock
}

/**
 * Keeps threads in the memory of this process: for tests, for development, and for servers that may forget. Nothing
 * is copied. What is given to `begin` and `commit` belongs to the store from then on: it is frozen, and must not be
 * changed afterwards; what is frozen already must be so all through. What `load` gives is the stored thread itself,
 * frozen too, and stays as it was when the thread goes on.
 *
 * A lease whose time is over can still write, and be renewed, as long as nobody has taken the thread since. One that
 * was released cannot.
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
    log: log.log,
    leases: leases.leases,
    check: () => Promise.resolve(),
    close: () => toPromise(() => log.close()),
  }
}
