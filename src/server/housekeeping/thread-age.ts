import type { ThreadSummary } from '../../threads/thread.js'
import type { ThreadRules } from '../options.js'

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
