import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import type { ServerContext } from '../context.js'
import { readJson } from '../request/read-json.js'
import { cancelRoute } from '../routes/cancel.js'
import { connectRoute } from '../routes/connect.js'
import {
  callRoute,
  jsonResponse,
  toAgentRequest,
  type RouteRequest,
  type UserRequest,
  type UserRoute,
} from '../routes/route.js'
import { runRoute } from '../routes/run.js'
import { findCopilotKitAgent } from './info.js'
import { withBody } from './request-body.js'
import { runSuggestions } from './suggestions.js'

function agentRequest(server: ServerContext, request: UserRequest): RouteRequest {
  return toAgentRequest(request, findCopilotKitAgent(server, request.param('agent')))
}

/** `POST /agent/{name}/run`: the same as a run of the agent, which continues when its page leaves. */
export const runAgentRoute: UserRoute = {
  method: 'POST',
  path: '/agent/:agent/run',
  handle: (server, request) => callRoute(runRoute, withReconnects(server), agentRequest(server, request)),
}

/** Pages of CopilotKit connect when they load, and have a route for their Stop. To hang up is not to stop. */
function withReconnects(server: ServerContext): ServerContext {
  const isAuto = server.onDisconnect === 'auto' && server.routes.connect !== false
  return isAuto ? { ...server, onDisconnect: 'continue' } : server
}

/** `POST /agent/{name}/connect`: brings a page up to date. A thread that does not exist is an empty one. */
export const connectAgentRoute: UserRoute = {
  method: 'POST',
  path: '/agent/:agent/connect',
  optional: 'connect',
  async handle(server, request) {
    try {
      return await callRoute(connectRoute, server, agentRequest(server, request))
    } catch (error) {
      if (!isError(error, 'THREAD_NOT_FOUND')) throw error
      // A page connects before anything was said: it has chosen the id, and nobody else knows it.
      return new Response('', { headers: { ...request.headers, 'content-type': 'text/event-stream' } })
    }
  },
}

/** `POST /agent/{name}/suggest`: a run that leaves nothing behind. */
export const suggestRoute: UserRoute = {
  method: 'POST',
  path: '/agent/:agent/suggest',
  handle: (server, request) => runSuggestions(server, agentRequest(server, request)),
}

/** `POST /agent/{name}/stop/{thread}`: stops the run of a thread, or only the one with `runId`. */
export const stopAgentRoute: UserRoute = {
  method: 'POST',
  path: '/agent/:agent/stop/:thread',
  optional: 'cancel',
  async handle(server, request) {
    const body = hasBody(request.request) ? await readJson(request.request, request.user, server) : {}
    const runId = isRecord(body) && body.runId !== undefined ? { runId: body.runId } : {}
    const scope = { threadId: request.param('thread'), ...runId }
    try {
      const response = await cancelRoute.handle(server, agentRequest(server, withBody(request, scope)))
      const { status } = (await response.json()) as { readonly status: string }
      return jsonResponse({ stopped: status === 'cancelled' })
    } catch (error) {
      // It has ended meanwhile, or has never begun.
      if (isError(error, 'THREAD_NOT_FOUND') || isError(error, 'RUN_NOT_FOUND'))
        return jsonResponse({ stopped: false })
      throw error
    }
  },
}

function isError(error: unknown, code: MillraceError['code']): boolean {
  return MillraceError.isInstance(error) && error.code === code
}

/** Pages declare JSON even where they send nothing. */
function hasBody(request: Request): boolean {
  return request.headers.get('content-length') !== '0' && request.body !== null
}
