import { textOfKey } from '../key-text.js'
import type { Clock } from '../../core/clock.js'
import type { Lease, ThreadStore } from '../store.js'
import type { Thread, ThreadChange, ThreadKey, ThreadSummary } from '../thread.js'
import { deepFreeze } from './freeze.js'
import { copyOfKey } from './keys.js'
import type { MemoryLeases } from './leases.js'
import type { MemoryLog } from './log.js'
import { summaryOf } from '../thread-summary.js'
import { emptyThread, nextThread } from './next-thread.js'
import { createThreadOrder } from './order.js'
import { promised } from './promised.js'

/** What the threads of a store work with. */
export interface MemoryThreadsOptions {
  readonly clock: Clock
  readonly leases: Pick<MemoryLeases, 'assertCurrent' | 'drop'>
  readonly log: Pick<MemoryLog, 'add' | 'forget'>
}

/** Makes the threads of a store. */
export function createMemoryThreads({ clock, leases, log }: MemoryThreadsOptions): ThreadStore {
  const threads = new Map<string, Thread>()
  const running = new Map<string, ThreadKey>()
  const order = createThreadOrder()

  /** What the holder of a lease finds. Throws LEASE_LOST when it is none. */
  const found = (lease: Lease): Thread => {
    leases.assertCurrent(lease)
    return threads.get(textOfKey(lease.key)) ?? emptyThread(copyOfKey(lease.key), clock.now())
  }
  const put = (thread: Thread): void => {
    const text = textOfKey(thread.key)
    threads.set(text, thread)
    if (thread.run?.status === 'running') running.set(text, thread.key)
    else running.delete(text)
  }
  const summaries = (keys: readonly string[]): ThreadSummary[] =>
    keys.flatMap((text) => {
      const thread = threads.get(text)
      return thread === undefined ? [] : [summaryOf(thread)]
    })

  const commit = (lease: Lease, change: ThreadChange): number => {
    const old = found(lease)
    const thread = nextThread(old, change, clock.now())
    // The last step that may fail: from here on all is written.
    if (change.log !== undefined) log.add(thread.key, change.log)
    if (old.version > 0) order.remove(old)
    order.add(thread)
    put(thread)
    if (change.run !== undefined) log.forget(thread.key, change.run.runId)
    return thread.version
  }
  const remove = (lease: Lease): void => {
    const old = found(lease)
    if (old.version > 0) order.remove(old)
    threads.delete(textOfKey(old.key))
    running.delete(textOfKey(old.key))
    log.forget(old.key)
  }

  return {
    load: (key) => promised(() => threads.get(textOfKey(key))),
    begin: (lease, run) => promised(() => put(deepFreeze({ ...found(lease), run }))),
    commit: (lease, change, { release = false } = {}) =>
      promised(() => {
        const version = commit(lease, change)
        if (release) leases.drop(lease)
        return version
      }),
    list: (owner, page) =>
      promised(() => {
        const { keys, ...rest } = order.page(owner, page)
        return { threads: summaries(keys), ...rest }
      }),
    remove: (lease) => promised(() => remove(lease)),
    idle: (before, limit) => promised(() => summaries(order.idle(before, limit))),
    unfinished: () => promised(() => [...running.values()]),
  }
}
