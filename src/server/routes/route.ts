import type { Agent, Claims } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import type { Owner, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import type { OptionalRoute } from '../contract.js'
import { checkId, checkThreadId } from '../request/check-input.js'
import { readJson } from '../request/read-json.js'
import type { Exchange } from '../stream/reply.js'

/** One method on one path of an agent. To add a route, list it in `create-server.ts`. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  /** The name by which `routes` leaves it out. */
  readonly optional?: OptionalRoute
  /** Whether it answers with a stream, which counts as one of the user's. */
  readonly streams?: boolean
  /** Errors become HTTP errors. */
  readonly handle: (server: ServerContext, request: RouteRequest) => Promise<Response>
}

/** A request whose user is known. */
export interface RouteRequest extends Exchange {
  readonly agent: Agent
  /** The owner of the threads that the request may see. */
  readonly owner: Owner
  readonly claims: Claims
  /** Where the request came from, if that is known. */
  readonly address: string | undefined
  readonly param: (name: string) => string
  readonly query: (name: string) => string | undefined
}

/** Reads a body that names a thread, and maybe one of its runs. */
export async function readThreadBody(
  server: ServerContext,
  { request, owner }: RouteRequest,
): Promise<{
  readonly body: Readonly<Record<string, unknown>>
  readonly key: ThreadKey
  readonly runId: string | undefined
}> {
  const body = await readJson(request, owner, server)
  if (!isRecord(body)) throw new MillraceError('INVALID_INPUT', 'The body must be an object with a threadId.')
  const thread = checkThreadId(body.threadId, 'threadId', server.limits)
  const runId = body.runId === undefined ? undefined : checkId(body.runId, 'runId', server.limits)
  return { body, key: { ...owner, thread }, runId }
}

/** Returns the thread that the path names. */
export function threadInPath({ limits }: ServerContext, { owner, param }: RouteRequest): ThreadKey {
  return { ...owner, thread: checkThreadId(param('thread'), 'thread', limits) }
}

const maxPageSize = 200

/** Reads `limit` of the query. Throws INVALID_INPUT for anything but a number from 1 to 200. */
export function pageLimit({ query }: RouteRequest): number | undefined {
  const text = query('limit')
  if (text === undefined) return undefined
  const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= maxPageSize) return limit
  throw new MillraceError('INVALID_INPUT', `limit: a number from 1 to ${maxPageSize} is expected.`)
}

export function jsonResponse(value: unknown): Response {
  return Response.json(value, { headers: { 'cache-control': 'no-store' } })
}
