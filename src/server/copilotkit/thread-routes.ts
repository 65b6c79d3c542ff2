import type { Message } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import type { ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import { loadThread } from '../recovery/recover-thread.js'
import { checkThreadId } from '../request/check-input.js'
import { unknownThread } from '../request/errors.js'
import { readJson } from '../request/read-json.js'
import { deleteThreadRoute } from '../routes/delete-thread.js'
import { checkLabels, labelThread } from '../routes/label-thread.js'
import { listThreads, type ListedThread } from '../routes/list-threads.js'
import { jsonResponse, pageLimit, toAgentRequest, type UserRequest, type UserRoute } from '../routes/route.js'
import { readThread } from '../state/thread-state.js'
import { parseEntry } from '../stream/framing.js'
import { findCopilotKitAgent } from './info.js'

const defaultPageSize = 50

/** `GET /threads`: the threads of a user with one agent, as `useThreads` shows them. */
export const threadsRoute: UserRoute = {
  method: 'GET',
  path: '/threads',
  optional: 'history',
  async handle(server, request) {
    const { query, user } = request
    const agentId = query('agentId') ?? 'default'
    const { name } = findCopilotKitAgent(server, agentId)
    const { threads, nextCursor = null } = await listThreads(
      server,
      { ...user, agent: name },
      {
        limit: pageLimit(request) ?? defaultPageSize,
        cursor: query('cursor'),
        withoutArchived: query('includeArchived') !== 'true',
      },
    )
    const describe = (thread: ListedThread): object => toThreadRecord(thread, { agentId, user: user.user })
    return jsonResponse({ threads: threads.map(describe), nextCursor })
  },
}

function toThreadRecord(
  { threadId, title, archived, createdAt, updatedAt }: ListedThread,
  { agentId, user }: { readonly agentId: string; readonly user: string },
): object {
  const changed = new Date(updatedAt).toISOString()
  return {
    ...{ id: threadId, organizationId: '', agentId, createdById: user },
    ...{ name: title === '' ? null : title, archived: archived === true },
    ...{ createdAt: new Date(createdAt).toISOString(), updatedAt: changed, lastRunAt: changed },
  }
}

/** `GET /threads/{id}/messages`: the history, in the form of CopilotKit's inspector. */
export const threadMessagesRoute: UserRoute = {
  method: 'GET',
  path: '/threads/:thread/messages',
  optional: 'history',
  async handle(server, request) {
    const { messages } = await readThread(server, await findThread(server, request))
    return jsonResponse({ messages: messages.map(toInspectedMessage) })
  },
}

function toInspectedMessage(message: Message): object {
  if (message.role !== 'assistant' || message.toolCalls === undefined) return message
  const toolCalls = message.toolCalls.map(({ id, function: { name, arguments: args } }) => ({
    id,
    name,
    args,
  }))
  return { ...message, toolCalls }
}

/** `GET /threads/{id}/state`: the state, without its private keys. */
export const threadStateRoute: UserRoute = {
  method: 'GET',
  path: '/threads/:thread/state',
  optional: 'history',
  async handle(server, request) {
    const key = await findThread(server, request)
    const { state } = await readThread(server, key)
    return jsonResponse({ state: server.stateRulesOf(key).visible(state) })
  },
}

/** More would keep other requests waiting. */
const maxEvents = 5000

/** `GET /threads/{id}/events`: the events of the latest run, as far as it has come: those that the run log keeps. */
export const threadEventsRoute: UserRoute = {
  method: 'GET',
  path: '/threads/:thread/events',
  optional: 'history',
  async handle(server, request) {
    const key = await findThread(server, request)
    const run = (await loadThread(server, key))?.run
    const entries = run ? await server.store.log.read(key, { runId: run.runId, after: -1 }, maxEvents) : []
    return jsonResponse({ events: entries.map(parseEntry) })
  },
}

/** `PATCH /threads/{id}`: `{ agentId, name?, archived? }` renames a thread, puts it away or takes it back. */
export const updateThreadRoute: UserRoute = {
  method: 'PATCH',
  path: '/threads/:thread',
  optional: 'patch',
  async handle(server, request) {
    const body = await readJson(request.request, request.user, server)
    const { name: title, archived } = isRecord(body) ? body : {}
    return label(server, request, { body, labels: { title, archived } })
  },
}

/** `POST /threads/{id}/archive`: puts a thread away. */
export const archiveThreadRoute: UserRoute = {
  method: 'POST',
  path: '/threads/:thread/archive',
  optional: 'patch',
  async handle(server, request) {
    return label(server, request, {
      body: await readJson(request.request, request.user, server),
      labels: { archived: true },
    })
  },
}

async function label(
  server: ServerContext,
  request: UserRequest,
  { body, labels }: { readonly body: unknown; readonly labels: unknown },
): Promise<Response> {
  const key = threadOf(server, request, agentIdIn(body))
  const checked = checkLabels(labels, 'name')
  await labelThread(server, key, { labels: checked, request })
  const { title: name, archived } = checked
  return jsonResponse({
    ...{ id: key.thread, threadId: key.thread },
    ...(name === undefined ? {} : { name }),
    ...(archived === undefined ? {} : { archived }),
  })
}

/** `DELETE /threads/{id}`: removes a thread, also from the memory of its agent's runtime. */
export const removeThreadRoute: UserRoute = {
  method: 'DELETE',
  path: '/threads/:thread',
  optional: 'delete',
  async handle(server, request) {
    const agent = findCopilotKitAgent(
      server,
      agentIdIn(await readJson(request.request, request.user, server)),
    )
    await deleteThreadRoute.handle(server, toAgentRequest(request, agent))
    return jsonResponse({ threadId: request.param('thread'), deleted: true })
  },
}

function agentIdIn(body: unknown): string {
  const { agentId } = isRecord(body) ? body : {}
  if (typeof agentId === 'string') return agentId
  throw new MillraceError('INVALID_INPUT', 'agentId: the name of an agent is expected.')
}

function threadOf(server: ServerContext, { user, param }: UserRequest, agentId: string): ThreadKey {
  const { name } = findCopilotKitAgent(server, agentId)
  return { ...user, agent: name, thread: checkThreadId(param('thread'), 'thread', server.limits) }
}

/** Finds the user's thread, of whichever agent: the inspector names none. Throws THREAD_NOT_FOUND. */
async function findThread(server: ServerContext, request: UserRequest): Promise<ThreadKey> {
  const [first = ''] = server.agents.keys()
  const agentId = request.query('agentId')
  for (const name of agentId === undefined ? server.agents.keys() : [agentId]) {
    const key = threadOf(server, request, name)
    if (await isKnown(server, key)) return key
  }
  throw unknownThread(threadOf(server, request, agentId ?? first))
}

async function isKnown(server: ServerContext, key: ThreadKey): Promise<boolean> {
  try {
    await readThread(server, key)
    return true
  } catch (error) {
    if (MillraceError.isInstance(error) && error.code === 'THREAD_NOT_FOUND') return false
    throw error
  }
}
