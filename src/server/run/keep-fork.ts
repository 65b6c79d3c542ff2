import { MillraceError } from '../../core/errors.js'
import type { AgUiEvent } from '../../protocol/index.js'
import type { Thread } from '../../threads/thread.js'
import type { ServerContext } from '../context.js'
import type { TurnPlan } from '../turn/plan-turn.js'

type RunPlan = Extract<TurnPlan, { type: 'run' }>

/**
 * Before an edit cuts a thread, what it had is kept as a thread of its own: an edit, or a tab that had fallen behind,
 * loses nothing. The client is told where.
 */
export async function keepFork(server: ServerContext, thread: Thread, plan: RunPlan): Promise<RunPlan> {
  const { store, owner, limits } = server
  const threadId = `${thread.key.thread}~${thread.version}`
  const lease = await store.leases.acquire(
    { ...thread.key, thread: threadId },
    { owner, ttlMs: limits.leaseMs },
  )
  if (!lease) throw new MillraceError('THREAD_IS_LOCKED', `Thread '${threadId}' is in use; try again.`)
  try {
    const { title, messages, state, key } = thread
    const existing = await store.threads.load(lease.key)
    // Kept before, by a run that was lost.
    if (!existing || existing.version === 0)
      await store.threads.commit(lease, {
        ...{ version: 0, keep: 0, append: messages, state, title, forkedFrom: key.thread },
        interrupts: [],
        pendingToolCalls: [],
      })
  } finally {
    await store.leases.release(lease)
  }
  const event: AgUiEvent = { type: 'CUSTOM', name: 'millrace.forked', value: { threadId } }
  return { ...plan, opening: [...plan.opening, event] }
}
