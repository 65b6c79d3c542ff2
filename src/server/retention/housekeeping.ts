import { delay } from '../../core/abort.js'
import type { Clock } from '../../core/clock.js'
import type { Owner, Store, ThreadKey, ThreadSummary } from '../../threads/contract.js'
import { threadKeyText } from '../../threads/thread-key.js'
import type { ServerContext } from '../context.js'
import type { Logger, RemovalReason, ThreadRules } from '../contract.js'
import { memoryOf } from '../run/agent-memory.js'
import { removeThread, type Removal } from './remove-thread.js'

const defaultSweepEveryMs = 300_000

export interface HousekeepingOptions {
  readonly store: Store
  readonly agents: ServerContext['agents']
  readonly rules: ThreadRules
  /** The name under which threads are leased while they are removed. */
  readonly owner: string
  readonly leaseMs: number
  readonly clock: Clock
  readonly log: Logger
}

/** Removes unused threads, as the rules say. */
export interface Housekeeping {
  /**
   * Removes the threads that are too old and resolves to their number. A call during a sweep joins it. Rejects when the
   * store cannot list threads; a thread that cannot be removed is logged and kept.
   */
  sweep(): Promise<number>
  /**
   * Must be called before a thread is created: removes others so that the owner has at most `maxPerUser` with it. Does
   * nothing for a thread that is stored already. Rejects when the store cannot list threads.
   */
  makeRoom(owner: Owner, newThread: string): Promise<void>
  /** Ends the current sweep after the thread it is at, and starts no more. Never rejects. */
  close(): Promise<void>
}

/** Starts to sweep at regular times if the rules have a timeout. The timer stops with `close`. */
export function createHousekeeping(options: HousekeepingOptions): Housekeeping {
  const { store, rules, clock, log } = options
  const { sweepEveryMs = defaultSweepEveryMs, maxPerUser = Infinity } = rules
  const closing = new AbortController()
  const { signal } = closing
  const remove = createRemoveOne(options)
  let current: Promise<number> | undefined
  let cancelTimer: (() => void) | undefined

  async function sweepOnce(): Promise<number> {
    try {
      const removed = await sweepThreads({ store, rules, clock, remove, signal })
      if (removed > 0) log.info({ removed }, 'Threads that nobody used were removed.')
      return removed
    } finally {
      current = undefined
    }
  }

  const sweep = (): Promise<number> => (current ??= sweepOnce())

  async function sweepOnTimer(): Promise<void> {
    try {
      await sweep()
    } catch (error) {
      log.error({ err: error }, 'The threads could not be swept.')
    }
    scheduleNext()
  }

  function scheduleNext(): void {
    if (!signal.aborted) cancelTimer = clock.schedule(sweepEveryMs, () => void sweepOnTimer())
  }

  if (shortestTimeout(rules) !== undefined) scheduleNext()
  return {
    sweep,
    async makeRoom({ app, user, agent }, thread) {
      if (maxPerUser === Infinity) return
      await makeRoomFor({ app, user, agent, thread }, { store, maxPerUser, remove, log })
    },
    async close() {
      closing.abort()
      cancelTimer?.()
      await Promise.allSettled([current])
    },
  }
}

/** Removes one thread if `isStillDue` confirms it under the lease. Reports failures and never rejects. */
type RemoveOne = (
  thread: ThreadSummary,
  reason: RemovalReason,
  isStillDue: (thread: ThreadSummary) => boolean,
) => Promise<Removal | 'failed'>

function createRemoveOne(options: HousekeepingOptions): RemoveOne {
  const { log } = options
  return async ({ key }, reason, isStillDue) => {
    const onProblem = (error: unknown): void =>
      log.warn({ ...key, reason, err: error }, 'A problem with the removal of a thread.')
    try {
      const memory = memoryOf(options, key)
      return await removeThread({ ...options, key, reason, isStillDue, onProblem, memory })
    } catch (error) {
      onProblem(error)
      return 'failed'
    }
  }
}

interface SweepOptions {
  readonly store: Store
  readonly rules: ThreadRules
  readonly clock: Clock
  readonly remove: RemoveOne
  /** Ends the sweep after the thread it is at. */
  readonly signal: AbortSignal
}

const pageSize = 100

async function sweepThreads({ store, rules, clock, remove, signal }: SweepOptions): Promise<number> {
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

/** Returns the shortest time after which a thread may be too old. Undefined when none ever is. */
function shortestTimeout({ idleTimeoutMs, waitingTimeoutMs }: ThreadRules): number | undefined {
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

interface MakeRoomOptions {
  readonly store: Store
  readonly maxPerUser: number
  readonly remove: RemoveOne
  readonly log: Logger
}

/**
 * Removes forks that nobody returned to first, then the threads that have been idle longest. Running and waiting threads
 * stay, even if that leaves too many.
 */
async function makeRoomFor(newThread: ThreadKey, options: MakeRoomOptions): Promise<void> {
  const { store, maxPerUser, remove, log } = options
  const { total, removable } = await countThreads(newThread, store)
  let excess = total - maxPerUser
  if (excess <= 0) return
  for (const thread of removable.sort(compareWorth)) {
    const removal = await remove(thread, 'too-many', (now) => isUnchanged(thread, now))
    if (removal === 'removed' || removal === 'missing') excess -= 1
    if (excess === 0) return
  }
  const { app, user, agent } = newThread
  const facts = { app, user, agent, maxPerUser, excess }
  log.warn(facts, 'A user has too many threads, and none that may be removed.')
}

/** Counts the owner's threads with the new one, and lists those that may be removed: none when the new one is stored. */
async function countThreads(
  newThread: ThreadKey,
  store: Store,
): Promise<{ readonly total: number; readonly removable: ThreadSummary[] }> {
  const removable: ThreadSummary[] = []
  let total = 1
  let cursor: string | undefined
  do {
    const page = await store.threads.list(newThread, {
      limit: pageSize,
      ...(cursor !== undefined && { cursor }),
    })
    if (page.threads.some(({ key }) => key.thread === newThread.thread)) return { total: 0, removable: [] }
    total += page.threads.length
    removable.push(...page.threads.filter((thread) => !isAwaitingAnswer(thread)))
    cursor = page.cursor
  } while (cursor !== undefined)
  return { total, removable }
}

/** Sorts the threads to remove first to the front. */
function compareWorth(a: ThreadSummary, b: ThreadSummary): number {
  return Number(isUnusedFork(b)) - Number(isUnusedFork(a)) || lastUsed(a) - lastUsed(b)
}

function isUnchanged(before: ThreadSummary, now: ThreadSummary): boolean {
  return before.version === now.version && before.run?.runId === now.run?.runId
}

/** Returns true for a fork that an edit left behind and nobody has returned to. */
function isUnusedFork({ forkedFrom, createdAt, updatedAt, run }: ThreadSummary): boolean {
  return forkedFrom !== undefined && createdAt === updatedAt && run === undefined
}

/** Returns true when a person or a client has yet to answer. Nobody returns to an unused fork to answer it. */
function isAwaitingAnswer(thread: ThreadSummary): boolean {
  return (thread.interruptCount > 0 || thread.pendingToolCallCount > 0) && !isUnusedFork(thread)
}

/** Returns when a thread was last used. The start of a run is not a change of the thread, so it counts separately. */
function lastUsed({ updatedAt, run }: ThreadSummary): number {
  return Math.max(updatedAt, run?.startedAt ?? 0)
}
