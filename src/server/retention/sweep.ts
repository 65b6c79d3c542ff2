import { delay } from '../../core/abort.js'
import type { Clock } from '../../core/clock.js'
import { textOfKey } from '../../threads/key-text.js'
import type { Store } from '../../threads/store.js'
import type { ThreadSummary } from '../../threads/thread.js'
import type { RemovalReason, ThreadRules } from '../contract.js'
import type { Removal } from './remove-thread.js'

const pageSize = 100

/** Removes one thread if `isStill` says so under its lease. Reports what fails and never rejects. */
export type RemoveOne = (
  thread: ThreadSummary,
  reason: RemovalReason,
  isStill: (thread: ThreadSummary) => boolean,
) => Promise<Removal | 'failed'>

export interface SweepOptions {
  readonly store: Store
  readonly rules: ThreadRules
  readonly clock: Clock
  readonly remove: RemoveOne
  /** Ends the sweep after the thread it is at. */
  readonly signal: AbortSignal
}

/** Removes the threads that are too old, each looked at once, and gives their number. Rejects when they cannot be listed. */
export async function sweepThreads({ store, rules, clock, remove, signal }: SweepOptions): Promise<number> {
  const timeout = shortestTimeout(rules)
  if (timeout === undefined) return 0
  const before = clock.now() - timeout
  const kept = new Set<string>()
  let removed = 0

  async function tryToRemove(thread: ThreadSummary): Promise<boolean> {
    const reason = whyTooOld(thread, rules, clock.now())
    if (reason === undefined) return false
    const isStill = (now: ThreadSummary): boolean => whyTooOld(now, rules, clock.now()) === reason
    return (await remove(thread, reason, isStill)) === 'removed'
  }

  async function sweepPage(threads: readonly ThreadSummary[]): Promise<void> {
    for (const thread of threads) {
      if (signal.aborted) return
      if (await tryToRemove(thread)) removed += 1
      else kept.add(textOfKey(thread.key))
    }
  }

  while (!signal.aborted) {
    // The store lists from the oldest on, so those that stay come again each time. Growing with their number, the pages
    // get past them in few steps.
    const limit = kept.size + Math.max(kept.size, pageSize)
    const page = await store.threads.idle(before, limit)
    const unseen = page.filter(({ key }) => !kept.has(textOfKey(key)))
    await sweepPage(unseen)
    if (page.length < limit || unseen.length === 0) break
    await letOthersWork(clock, signal)
  }
  return removed
}

/** A store in memory answers without letting go of the thread of execution, and many pages would hold up every run. */
async function letOthersWork(clock: Clock, signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await delay(0, { clock, signal }).catch(() => undefined)
}

/** Whether it is what an edit has left, and nobody has gone on with it. */
export function isUnusedFork({ forkedFrom, version, run }: ThreadSummary): boolean {
  return forkedFrom !== undefined && version === 1 && run === undefined
}

/** Whether a person or a client has yet to answer. To what an edit has left, nobody is expected to. */
export function isWaiting(thread: ThreadSummary): boolean {
  return (thread.interruptCount > 0 || thread.pendingToolCallCount > 0) && !isUnusedFork(thread)
}

/** When something has last happened on a thread. The start of a run changes no thread, so it is looked at too. */
export function lastUsed({ updatedAt, run }: ThreadSummary): number {
  return Math.max(updatedAt, run?.startedAt ?? 0)
}

/** Why a thread has been there for too long, or undefined when it has not. */
export function whyTooOld(
  thread: ThreadSummary,
  rules: ThreadRules,
  now: number,
): 'idle' | 'waiting-too-long' | undefined {
  const [limit, reason] = isWaiting(thread)
    ? ([rules.waitingTimeoutMs, 'waiting-too-long'] as const)
    : ([rules.idleTimeoutMs, 'idle'] as const)
  return limit !== undefined && lastUsed(thread) < now - limit ? reason : undefined
}

/** The shortest time after which a thread may be too old. Undefined when none ever is. */
export function shortestTimeout({ idleTimeoutMs, waitingTimeoutMs }: ThreadRules): number | undefined {
  const shortest = Math.min(idleTimeoutMs ?? Infinity, waitingTimeoutMs ?? Infinity)
  return Number.isFinite(shortest) ? shortest : undefined
}
