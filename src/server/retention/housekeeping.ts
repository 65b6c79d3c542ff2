import type { Clock } from '../../core/clock.js'
import type { Store } from '../../threads/store.js'
import type { Owner, ThreadKey, ThreadSummary } from '../../threads/thread.js'
import type { ServerContext } from '../context.js'
import type { Logger, ThreadRules } from '../contract.js'
import { memoryOf } from '../run/agent-memory.js'
import { removeThread } from './remove-thread.js'
import { isUnusedFork, isWaiting, lastUsed, type RemoveOne, shortestTimeout, sweepThreads } from './sweep.js'

const defaultSweepEveryMs = 300_000

export interface HousekeepingOptions {
  readonly store: Store
  readonly agents: ServerContext['agents']
  readonly rules: ThreadRules
  /** In whose name threads are leased while they are removed. */
  readonly owner: string
  readonly leaseMs: number
  readonly clock: Clock
  readonly log: Logger
}

/** Removes threads that nobody uses, as far as the rules say so. */
export interface Housekeeping {
  /**
   * Looks once at all threads that may be too old and gives the number of those it has removed. While a sweep is under way,
   * gives that one. Rejects when the store cannot list them; a single thread that cannot be removed is logged and kept.
   */
  sweep(): Promise<number>
  /**
   * Call before a thread is made that is not stored yet: removes others so that the owner has no more than `maxPerUser`
   * with it. A thread that is stored already needs no room. Rejects when the store cannot list them.
   */
  makeRoom(owner: Owner, newThread: string): Promise<void>
  /** Ends the sweep that is under way after the thread it is at, and starts no more. Never rejects. */
  close(): Promise<void>
}

/** Starts to sweep at regular times, unless the rules have no timeout. Until `close`, a timer is left. */
export function createHousekeeping(options: HousekeepingOptions): Housekeeping {
  const { store, rules, clock, log } = options
  const { sweepEveryMs = defaultSweepEveryMs, maxPerUser = Infinity } = rules
  const closing = new AbortController()
  const { signal } = closing
  const remove = createRemoveOne(options)
  let current: Promise<number> | undefined
  let unschedule: (() => void) | undefined

  async function sweepNow(): Promise<number> {
    try {
      const removed = await sweepThreads({ store, rules, clock, remove, signal })
      if (removed > 0) log.info({ removed }, 'Threads that nobody used were removed.')
      return removed
    } finally {
      current = undefined
    }
  }

  const sweep = (): Promise<number> => (current ??= sweepNow())

  async function sweepInTime(): Promise<void> {
    try {
      await sweep()
    } catch (error) {
      log.error({ err: error }, 'The threads could not be swept.')
    }
    scheduleNext()
  }

  function scheduleNext(): void {
    if (!signal.aborted) unschedule = clock.schedule(sweepEveryMs, () => void sweepInTime())
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
      unschedule?.()
      await Promise.allSettled([current])
    },
  }
}

function createRemoveOne(options: HousekeepingOptions): RemoveOne {
  const { log } = options
  return async ({ key }, reason, isStill) => {
    const onProblem = (error: unknown): void =>
      log.warn({ ...key, reason, err: error }, 'A problem with the removal of a thread.')
    try {
      return await removeThread({
        ...options,
        key,
        reason,
        isStill,
        onProblem,
        memory: memoryOf(options, key),
      })
    } catch (error) {
      onProblem(error)
      return 'failed'
    }
  }
}

const pageSize = 100

export interface MakeRoomOptions {
  readonly store: Store
  readonly maxPerUser: number
  readonly remove: RemoveOne
  readonly log: Logger
}

/**
 * Removes threads of an owner until a new one makes no more than `maxPerUser`: what edits have left first, then the one
 * that has not been used for longest. Those that are at work or wait stay, even if that leaves too many. Does nothing for
 * a thread that is there already. Rejects when the threads cannot be listed.
 */
export async function makeRoomFor(
  newThread: ThreadKey,
  { store, maxPerUser, remove, log }: MakeRoomOptions,
): Promise<void> {
  const { total, removable } = await countThreads(newThread, store)
  let excess = total - maxPerUser
  if (excess <= 0) return
  for (const thread of removable.sort(byWorth)) {
    const removal = await remove(thread, 'too-many', (now) => isUnchanged(thread, now))
    if (removal === 'removed' || removal === 'missing') excess -= 1
    if (excess === 0) return
  }
  const { app, user, agent } = newThread
  log.warn(
    { app, user, agent, maxPerUser, excess },
    'A user has too many threads, and none that may be removed.',
  )
}

/** How many threads there are with the new one, and which may go. None may when the new one is not new. */
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
    removable.push(...page.threads.filter((thread) => !isWaiting(thread)))
    cursor = page.cursor
  } while (cursor !== undefined)
  return { total, removable }
}

/** Those that are missed least come first. */
function byWorth(a: ThreadSummary, b: ThreadSummary): number {
  return Number(isUnusedFork(b)) - Number(isUnusedFork(a)) || lastUsed(a) - lastUsed(b)
}

function isUnchanged(before: ThreadSummary, now: ThreadSummary): boolean {
  return before.version === now.version && before.run?.runId === now.run?.runId
}
