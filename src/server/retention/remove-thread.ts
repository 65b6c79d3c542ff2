import type { AgentMemory } from '../../agents/index.js'
import { type Clock, systemClock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { Lease, Store } from '../../threads/store.js'
import { summaryOf } from '../../threads/thread-summary.js'
import type { Thread, ThreadKey, ThreadSummary } from '../../threads/thread.js'
import type { RemovalReason, ThreadRules } from '../contract.js'
import { ownerOf } from '../run/agent-memory.js'
import { keepLease } from '../run/keep-lease.js'

export interface RemoveThreadOptions {
  readonly store: Store
  readonly key: ThreadKey
  /** In whose name the thread is leased. */
  readonly owner: string
  readonly leaseMs: number
  /** When the lease is renewed. Default: the real time. */
  readonly clock?: Clock
  readonly reason: RemovalReason
  readonly rules?: ThreadRules | undefined
  /** What the agent of the thread keeps of it elsewhere; forgotten with it. */
  readonly memory?: AgentMemory | undefined
  /** Whether the thread should still go, asked once nobody else can change it. Default: yes. */
  readonly isStill?: (thread: ThreadSummary) => boolean
  /** Gets what `onThreadRemoved` throws, and errors that change nothing about the answer. Must not throw. */
  readonly onProblem: (error: unknown) => void
}

/**
 * What became of a thread that was to be removed: it is gone; somebody else is at work on it; it was not there; or it was
 * kept, because it should not go any more or because `onThreadRemoved` threw.
 */
export type Removal = 'removed' | 'busy' | 'missing' | 'spared'

/**
 * Removes a thread under its lease, after `onThreadRemoved` has seen it. The lease is renewed as long as that takes.
 * A thread that nothing was committed to is only removed on request; for housekeeping it is missing. Rejects when the
 * store fails.
 */
export async function removeThread(options: RemoveThreadOptions): Promise<Removal> {
  const { store, key, owner, leaseMs, clock = systemClock, onProblem } = options
  const lease = await store.leases.acquire(key, { owner, ttlMs: leaseMs })
  if (lease === undefined) return 'busy'
  // When it is lost, the store refuses the removal.
  const stopRenewing = keepLease({ store, lease, leaseMs, clock, onLost: () => undefined, onProblem })
  try {
    return await removeLeased(lease, options)
  } finally {
    stopRenewing()
    // A lease that cannot be given back runs out by itself.
    await store.leases.release(lease).catch(onProblem)
  }
}

async function removeLeased(lease: Lease, options: RemoveThreadOptions): Promise<Removal> {
  const { store, key, reason, isStill } = options
  const thread = await store.threads.load(key)
  if (thread === undefined && reason === 'request') return forgetElsewhere(options)
  if (thread === undefined || (thread.version === 0 && reason !== 'request')) return 'missing'
  if (isStill?.(summaryOf(thread)) === false || !(await isAllowed(thread, options))) return 'spared'
  try {
    // First: what fails there leaves the thread, to be removed once more.
    await options.memory?.forget(ownerOf(key))
    await store.threads.remove(lease)
    return 'removed'
  } catch (error) {
    if (MillraceError.isInstance(error) && error.code === 'LEASE_LOST') return 'busy'
    throw error
  }
}

/** A thread that was made elsewhere and never came here. */
async function forgetElsewhere({ memory, key }: RemoveThreadOptions): Promise<Removal> {
  if (!(await memory?.read(ownerOf(key)))) return 'missing'
  await memory?.forget(ownerOf(key))
  return 'removed'
}

async function isAllowed(thread: Thread, options: RemoveThreadOptions): Promise<boolean> {
  try {
    await options.rules?.onThreadRemoved?.(thread, options.reason)
    return true
  } catch (error) {
    options.onProblem(error)
    return false
  }
}
