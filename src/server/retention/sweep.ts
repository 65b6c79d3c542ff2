import { delay } from '../../core/abort.js'
import type { Clock } from '../../core/clock.js'
import { threadKeyText } from '../../threads/thread-key.js'
import type { Store, ThreadSummary } from '../../threads/contract.js'
import type { RemovalReason, ThreadRules } from '../contract.js'
import type { Removal } from './remove-thread.js'

/** Removes one thread if `isStillDue` confirms it under the lease. Reports failures and never rejects. */
export type RemoveOne = (
  thread: ThreadSummary,
  reason: RemovalReason,
  isStillDue: (thread: ThreadSummary) => boolean,
) => Promise<Removal | 'failed'>

export interface SweepOptions {
  readonly store: Store
  readonly rules: ThreadRules
  readonly clock: Clock
  readonly remove: RemoveOne
  /** Ends the sweep after the thread it is at. */
  readonly signal: AbortSignal
}

const pageSize = 100

/** Removes the threads that are too old and resolves to their number. Rejects when the store cannot list threads. */
export async function sweepThreads({ store, rules, clock, remove, signal }: SweepOptions): Promise<number> {
  const timeout = shortestTimeout(rules)
  if (timeout === undefined) return 0
  const before = clock.now() - timeout
  const kept = new Set<string>()
  let removed = 0

  async function removeIfTooOld(thread: ThreadSummary): Promise<boolean> {
    const reason = whyTooOld(thread, rules, clock.now())
    if (reason === undefined) return false
    const isStillDue = (now: ThreadSummary): boolean => whyTooOld(now, rules, clock.now()) === reason
    return (await remove(thread, reason, isStillDue)) === 'removed'
  }

  async function sweepPage(threads: readonly ThreadSummary[]): Promise<void> {
    for (const thread of threads) {
      if (signal.aborted) return
      if (await removeIfTooOld(thread)) removed += 1
      else kept.add(threadKeyText(thread.key))
    }
  }

  while (!signal.aborted) {
    // The store lists the oldest first, so threads that stay are listed again. Pages that grow with their number get past
    // them in few steps.
    const limit = kept.size + Math.max(kept.size, pageSize)
    const page = await store.threads.idle(before, limit)
    const unseen = page.filter(({ key }) => !kept.has(threadKeyText(key)))
    await sweepPage(unseen)
    if (page.length < limit || unseen.length === 0) break
    // A store in memory answers within the tick: without a break, many pages would hold up every run.
    await delay(0, { clock, signal }).catch(() => undefined)
  }
  return removed
}

/** Returns true for a fork that an edit left behind and nobody has returned to. */
export function isUnusedFork({ forkedFrom, version, run }: ThreadSummary): boolean {
  return forkedFrom !== undefined && version === 1 && run === undefined
}

/** Returns true when a person or a client has yet to answer. Nobody returns to an unused fork to answer it. */
export function isAwaitingAnswer(thread: ThreadSummary): boolean {
  return (thread.interruptCount > 0 || thread.pendingToolCallCount > 0) && !isUnusedFork(thread)
}

/** Returns when a thread was last used. The start of a run is not a change of the thread, so it counts separately. */
export function lastUsed({ updatedAt, run }: ThreadSummary): number {
  return Math.max(updatedAt, run?.startedAt ?? 0)
}

/** Returns the shortest time after which a thread may be too old. Undefined when none ever is. */
export function shortestTimeout({ idleTimeoutMs, waitingTimeoutMs }: ThreadRules): number | undefined {
  const shortest = Math.min(idleTimeoutMs ?? Infinity, waitingTimeoutMs ?? Infinity)
  return Number.isFinite(shortest) ? shortest : undefined
}

function whyTooOld(
  thread: ThreadSummary,
  rules: ThreadRules,
  now: number,
): 'idle' | 'waiting-too-long' | undefined {
  const [limit, reason] = isAwaitingAnswer(thread)
    ? ([rules.waitingTimeoutMs, 'waiting-too-long'] as const)
    : ([rules.idleTimeoutMs, 'idle'] as const)
  return limit !== undefined && lastUsed(thread) < now - limit ? reason : undefined
}
