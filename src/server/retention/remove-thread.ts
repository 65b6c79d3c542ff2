import type { AgentMemory } from '../../agents/index.js'
import { type Clock, systemClock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { Lease, Store, Thread, ThreadKey, ThreadSummary } from '../../threads/contract.js'
import { summarizeThread } from '../../threads/thread-list.js'
import type { RemovalReason, ThreadRules } from '../contract.js'
import { toThreadOwner } from '../run/agent-memory.js'
import { LeaseRenewal } from '../run/lease.js'

export interface RemoveThreadOptions {
  readonly store: Store
  readonly key: ThreadKey
  /** The name under which the thread is leased. */
  readonly owner: string
  readonly leaseMs: number
  /** Times the renewal of the lease. Default: the real time. */
  readonly clock?: Clock
  readonly reason: RemovalReason
  readonly rules?: ThreadRules | undefined
  /** The memory of the agent's own runtime, which forgets the thread too. */
  readonly memory?: AgentMemory | undefined
  /** Confirms the removal under the lease, when no other run can change the thread. Default: yes. */
  readonly isStillDue?: (thread: ThreadSummary) => boolean
  /** Gets errors of `onThreadRemoved`, and those that do not change the result. Must not throw. */
  readonly onProblem: (error: unknown) => void
}

/** `busy`: another run or process holds the lease. `spared`: no longer due, or `onThreadRemoved` threw. */
export type Removal = 'removed' | 'busy' | 'missing' | 'spared'

/**
 * Removes a thread under its lease, after `onThreadRemoved`. Renews the lease as long as that takes. A thread without a
 * commit is only removed on request; for housekeeping it is missing. Rejects when the store fails.
 */
export async function removeThread(options: RemoveThreadOptions): Promise<Removal> {
  const { store, key, owner, leaseMs, clock = systemClock, onProblem } = options
  const lease = await store.leases.acquire(key, { owner, ttlMs: leaseMs })
  if (lease === undefined) return 'busy'
  // If the lease is lost, the store refuses the removal.
  const renewal = new LeaseRenewal({ store, lease, leaseMs, clock, onLost: () => undefined, onProblem })
  try {
    return await removeLeased(lease, options)
  } finally {
    renewal.stop()
    // A lease that cannot be released runs out by itself.
    await store.leases.release(lease).catch(onProblem)
  }
}

async function removeLeased(lease: Lease, options: RemoveThreadOptions): Promise<Removal> {
  const { store, key, reason, isStillDue } = options
  const thread = await store.threads.load(key)
  if (thread === undefined && reason === 'request') return removeFromMemory(options)
  if (thread === undefined || (thread.version === 0 && reason !== 'request')) return 'missing'
  if (isStillDue?.(summarizeThread(thread)) === false || !(await isAllowed(thread, options))) return 'spared'
  try {
    // Before the store: when this fails, the thread is still there to be removed again.
    await options.memory?.forget(toThreadOwner(key))
    await store.threads.remove(lease)
    return 'removed'
  } catch (error) {
    if (MillraceError.isInstance(error) && error.code === 'LEASE_LOST') return 'busy'
    throw error
  }
}

/** Removes a thread that only the agent's runtime knows. */
async function removeFromMemory({ memory, key }: RemoveThreadOptions): Promise<Removal> {
  if (!(await memory?.read(toThreadOwner(key)))) return 'missing'
  await memory?.forget(toThreadOwner(key))
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
