import type { Thread, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import { recoverThread, loadThread } from '../recovery/recover-thread.js'
import { readJson } from '../request/read-json.js'
import { adoptThread, memoryOf, toThreadOwner, readRememberedThread } from '../run/agent-memory.js'
import { acquireLease } from '../run/lease.js'
import { patchState } from '../state/patch-state.js'
import { jsonResponse, threadInPath, unknownThread, type Route } from './route.js'

/** `GET /state_snapshot/{id}`: the state as a STATE_SNAPSHOT event, without its private keys. */
export const stateRoute: Route = {
  method: 'GET',
  path: '/state_snapshot/:thread',
  async handle(server, request) {
    const { state } = await readThread(server, threadInPath(server, request))
    return jsonResponse({ type: 'STATE_SNAPSHOT', snapshot: server.stateRules.visible(state) })
  },
}

/** `PATCH /state/{id}`: changes the state by an RFC 6902 patch, all of it or nothing. */
export const patchStateRoute: Route = {
  method: 'PATCH',
  path: '/state/:thread',
  async handle(server, request) {
    const { store, stateRules } = server
    const key = threadInPath(server, request)
    const patch = await readJson(request.request, server)
    // A thread that does not exist is not leased.
    await readThread(server, key)
    const lease = await acquireLease({ ...server, whenBusy: 'reject' }, key, request.request)
    try {
      const thread = (await recoverThread(server, lease)) ?? (await adoptThread(server, lease))
      if (!thread) throw unknownThread(key)
      const { version, interrupts, pendingToolCalls, checkpoint, messages } = thread
      // Clients that have not seen the patch still hold this state. When they send it back, they change nothing.
      const shown = thread.shown ?? thread.state
      const state = patchState(thread.state, patch, stateRules)
      const next = await store.threads.commit(lease, {
        ...{ version, keep: messages.length, append: [], state, shown, interrupts, pendingToolCalls },
        ...(checkpoint === undefined ? {} : { checkpoint }),
      })
      await writeToMemory(server, key, state)
      return jsonResponse({ status: 'updated', version: next })
    } finally {
      await store.leases.release(lease)
    }
  },
}

/** Reads a thread's messages and state. A thread in its first run shows what it started with. Throws THREAD_NOT_FOUND. */
export async function readThread(
  server: ServerContext,
  key: ThreadKey,
): Promise<Pick<Thread, 'messages' | 'state'>> {
  const thread = await loadThread(server, key)
  if (thread && thread.version > 0) return thread
  const start = thread?.run?.start
  if (start) return { messages: start.append, state: start.state }
  const known = server.registry.get(key)?.start ?? (await readRememberedThread(server, key))
  if (known) return known
  throw unknownThread(key)
}

/** Passes the new state to the agent's runtime. Only logs a failure: the next run passes the state again. */
async function writeToMemory(server: ServerContext, key: ThreadKey, state: unknown): Promise<void> {
  try {
    await memoryOf(server, key)?.writeState(toThreadOwner(key), state)
  } catch (error) {
    server.log.warn({ ...key, err: error }, 'the runtime of an agent could not take a new state')
  }
}
