import type { ServerResponse } from 'node:http'
import type { Agent } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import type { Owner, ThreadKey } from '../../threads/thread.js'
import { checkId } from '../request/check-input.js'
import type { ServerContext } from '../context.js'
import { readJson } from '../request/read-json.js'
import type { Heart } from '../stream/heartbeat.js'

/** All that routes have in common: the server, with its streams. */
export interface RouteContext extends ServerContext {
  readonly heart: Heart
}

/** A request that has been let in. */
export interface RouteRequest {
  readonly request: Request
  readonly outgoing: ServerResponse | undefined
  /** Headers every answer has, those of CORS for example. */
  readonly headers: Readonly<Record<string, string>>
  /** The agent it is for, and whose threads it may see. */
  readonly agent: Agent
  readonly owner: Owner
  readonly param: (name: string) => string
  readonly query: (name: string) => string | undefined
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly handle: (server: RouteContext, request: RouteRequest) => Promise<Response>
}

export function readBody(server: ServerContext, { request }: RouteRequest): Promise<unknown> {
  return readJson(request, server.limits, server.clock)
}

/** The thread that the path names. */
export function threadInPath(server: ServerContext, { owner, param }: RouteRequest): ThreadKey {
  return { ...owner, thread: checkId(param('thread'), 'thread', server.limits) }
}

export function unknownThread({ thread }: ThreadKey): MillraceError {
  return new MillraceError('THREAD_NOT_FOUND', `There is no thread '${thread}'.`)
}

export function json(value: unknown): Response {
  return Response.json(value, { headers: { 'cache-control': 'no-store' } })
}

/** The body of a request that names a thread. */
export function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>
  throw new MillraceError('INVALID_INPUT', 'The body must be an object with a threadId.')
}
