import type { Message } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import type { Thread, ThreadKey } from '../../threads/thread.js'
import { recoverThread, settledThread } from '../recovery/recover-thread.js'
import { checkId } from '../request/check-input.js'
import { adoptThread, memoryOf, ownerOf, rememberedThread } from '../run/agent-memory.js'
import { takeLease } from '../run/take-lease.js'
import { patchState } from '../state/patch-state.js'
import { limitIn } from './list-threads.js'
import {
  json,
  readBody,
  type Route,
  type RouteContext,
  type RouteRequest,
  threadInPath,
  unknownThread,
} from './route.js'

/** `GET /message_snapshot/{id}`: the history as a MESSAGES_SNAPSHOT event; in pages from the end with `limit`. */
export const messagesRoute: Route = {
  method: 'GET',
  path: '/message_snapshot/:thread',
  async handle(server, request) {
    const { messages } = await threadOf(server, request)
    const limit = limitIn(request.query('limit'))
    const before = request.query('before')
    const end =
      before === undefined ? messages.length : positionOf(messages, checkId(before, 'before', server.limits))
    const start = limit === undefined ? 0 : Math.max(0, end - limit)
    const [oldest] = messages.slice(start, end)
    return json({
      type: 'MESSAGES_SNAPSHOT',
      messages: messages.slice(start, end),
      ...(start > 0 && oldest ? { nextBefore: oldest.id } : {}),
    })
  },
}

function positionOf(messages: readonly Message[], id: string): number {
  const position = messages.findIndex((message) => message.id === id)
  if (position === -1) throw new MillraceError('INVALID_INPUT', `before: the thread has no message '${id}'.`)
  return position
}

/** `GET /state_snapshot/{id}`: the state as a STATE_SNAPSHOT event, without what is private. */
export const stateRoute: Route = {
  method: 'GET',
  path: '/state_snapshot/:thread',
  async handle(server, request) {
    const { state } = await threadOf(server, request)
    return json({ type: 'STATE_SNAPSHOT', snapshot: server.stateRules.visible(state) })
  },
}

/** `PATCH /state/{id}`: changes the state by an RFC 6902 patch, all of it or nothing. */
export const patchRoute: Route = {
  method: 'PATCH',
  path: '/state/:thread',
  async handle(server, request) {
    const { store, stateRules } = server
    const key = threadInPath(server, request)
    const patch = await readBody(server, request)
    // So that nothing is made of a thread that does not exist.
    await threadOf(server, request)
    const lease = await takeLease({ ...server, whenBusy: 'reject' }, key, request.request)
    try {
      const thread = (await recoverThread(server, lease)) ?? (await adoptThread(server, lease))
      if (!thread) throw unknownThread(key)
      const { version, interrupts, pendingToolCalls, checkpoint, messages } = thread
      // Clients that have not heard of the patch still hold this. What they send back of it is no change of theirs.
      const shown = thread.shown ?? thread.state
      const state = patchState(thread.state, patch, stateRules)
      const next = await store.threads.commit(lease, {
        ...{ version, keep: messages.length, append: [], state, shown, interrupts, pendingToolCalls },
        ...(checkpoint === undefined ? {} : { checkpoint }),
      })
      await tellRuntime(server, key, state)
      return json({ status: 'updated', version: next })
    } finally {
      await store.leases.release(lease)
    }
  },
}

async function threadOf(
  server: RouteContext,
  request: RouteRequest,
): Promise<Pick<Thread, 'messages' | 'state'>> {
  const key = threadInPath(server, request)
  const thread = await settledThread(server, key)
  if (thread && thread.version > 0) return thread
  const known =
    beginningOf(thread) ?? server.registry.get(key)?.start ?? (await rememberedThread(server, key))
  if (known) return known
  throw unknownThread(key)
}

/** What a thread has begun with that is in its first run, here or in another process, and not committed yet. */
function beginningOf(thread: Thread | undefined): Pick<Thread, 'messages' | 'state'> | undefined {
  const start = thread?.run?.start
  return start && { messages: start.append, state: start.state }
}

/** The thread has the new state by now, and the next run brings it along. So a runtime that cannot take it is no failure. */
async function tellRuntime(server: RouteContext, key: ThreadKey, state: unknown): Promise<void> {
  try {
    await memoryOf(server, key)?.writeState(ownerOf(key), state)
  } catch (error) {
    server.log.warn({ ...key, err: error }, 'the runtime of an agent could not take a new state')
  }
}
