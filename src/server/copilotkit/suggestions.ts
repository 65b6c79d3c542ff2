import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import { createMemoryStore } from '../../threads/memory/store.js'
import type { ServerContext } from '../context.js'
import { createRecoveries } from '../recovery/recover-thread.js'
import { readJson } from '../request/read-json.js'
import { callRoute, type RouteRequest } from '../routes/route.js'
import { runRoute } from '../routes/run.js'
import { memoryOf, toThreadOwner } from '../run/agent-memory.js'
import { withBody } from './request-body.js'

/**
 * Runs an agent for suggestions of what the user could say next. The conversation comes with the request, the run passes
 * the same hooks and limits as any other, and nothing is stored.
 */
export async function runSuggestions(server: ServerContext, request: RouteRequest): Promise<Response> {
  const body = await readJson(request.request, request.user, server)
  if (!isRecord(body)) throw new MillraceError('INVALID_INPUT', 'The body must be a RunAgentInput.')
  // Never the client's id: the runtime of an agent could take it for a thread that it knows.
  const threadId = server.newId('suggestion')
  const response = await callRoute(runRoute, withoutThreads(server), withBody(request, { ...body, threadId }))
  void forgetWhenDone(server, { ...request.owner, thread: threadId })
  return response
}

/** The server for runs whose thread nobody asks for again. */
function withoutThreads(server: ServerContext): ServerContext {
  return {
    ...server,
    store: createMemoryStore({ clock: server.clock }),
    recoveries: createRecoveries(),
    housekeeping: { ...server.housekeeping, makeRoom: () => Promise.resolve() },
    keepsThreads: false,
    board: undefined,
    history: 'client',
    whenBusy: 'reject',
    onDisconnect: 'cancel',
  }
}

/** Makes the agent's own runtime forget the run too. */
async function forgetWhenDone(
  server: ServerContext,
  key: RouteRequest['owner'] & { readonly thread: string },
): Promise<void> {
  try {
    await server.registry.get(key)?.done
    await memoryOf(server, key)?.forget(toThreadOwner(key))
  } catch (error) {
    server.log.warn({ ...key, err: error }, 'the runtime of an agent could not forget a suggestion')
  }
}

/** The name of the tool by which CopilotKit asks for suggestions. */
const suggestTool = 'copilotkitSuggest'

/** Whether a run is for suggestions. Over the single route, CopilotKit sends them as runs. */
export function isForSuggestions(body: unknown): boolean {
  const props = isRecord(body) ? body.forwardedProps : undefined
  const choice = isRecord(props) ? props.toolChoice : undefined
  const called = isRecord(choice) ? choice.function : undefined
  return isRecord(called) && called.name === suggestTool
}
