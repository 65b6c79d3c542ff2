import { isEqual } from '../../core/json.js'
import type { AgUiEvent } from '../../protocol/index.js'
import type { Lease, Thread } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import type { AgentPlan } from '../plan/run-plan.js'

/**
 * Copies a thread to one of its own before an edit cuts it: an edit, or a tab that had fallen behind, loses nothing. The
 * returned plan sends the id of the copy to the client.
 */
export async function saveFork(server: ServerContext, thread: Thread, plan: AgentPlan): Promise<AgentPlan> {
  let attempt = 1
  let threadId = forkId(thread, attempt, server.limits.idLength)
  // The id may be taken: by the user, or by a fork of an earlier thread of this id.
  while (!(await trySave(server, thread, threadId)))
    threadId = forkId(thread, ++attempt, server.limits.idLength)
  const event: AgUiEvent = { type: 'CUSTOM', name: 'millrace.forked', value: { threadId } }
  return { ...plan, catchUp: [...plan.catchUp, event] }
}

/** Saves a thread under an id. False when another thread has it. */
async function trySave(server: ServerContext, thread: Thread, threadId: string): Promise<boolean> {
  const { store, owner, limits } = server
  const key = { ...thread.key, thread: threadId }
  const lease = await store.leases.acquire(key, { owner, ttlMs: limits.leaseMs })
  // Another run holds its lease.
  if (!lease) return false
  try {
    const existing = await store.threads.load(key)
    // A run that was lost may have saved it.
    if (existing) return isCopy(existing, thread)
    await copyThread(server, thread, lease)
    return true
  } finally {
    await store.leases.release(lease)
  }
}

async function copyThread(
  { store, housekeeping }: ServerContext,
  { key, title, messages, state, pendingToolCalls }: Thread,
  lease: Lease,
): Promise<void> {
  await housekeeping.makeRoom(key, lease.key.thread)
  await store.threads.commit(lease, {
    ...{ version: 0, keep: messages.length, append: [], state, title, forkedFrom: key.thread },
    interrupts: [],
    pendingToolCalls,
  })
}

function isCopy(existing: Thread, { key, messages, state }: Thread): boolean {
  return (
    existing.forkedFrom === key.thread &&
    isEqual(existing.messages, messages) &&
    isEqual(existing.state, state)
  )
}

/** `chat~3`, then `chat~3-2`: the thread `chat` at version 3. Long ids are shortened to make room for that. */
function forkId({ key, version }: Thread, attempt: number, idLength: number): string {
  const end = attempt === 1 ? `~${version}` : `~${version}-${attempt}`
  // Half a surrogate pair cannot be sent.
  const base = key.thread.slice(0, Math.max(0, idLength - end.length)).replace(/[\uD800-\uDBFF]$/, '')
  return base + end
}
