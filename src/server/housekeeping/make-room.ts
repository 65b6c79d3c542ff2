import type { Store } from '../../threads/store.js'
import type { ThreadKey, ThreadSummary } from '../../threads/thread.js'
import type { Logger } from '../logger.js'
import type { RemoveOne } from './sweep.js'
import { isUnusedFork, isWaiting, lastUsed } from './thread-age.js'

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
