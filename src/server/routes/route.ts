import type { Agent, Claims } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import type { Owner, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import type { OptionalRoute } from '../contract.js'
import type { Share } from '../limits/quota.js'
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
  /** Whether operators may send it for another user, though it is no GET. */
  readonly forOperators?: boolean
  /** Errors become HTTP errors. */
  readonly handle: (server: ServerContext, request: RouteRequest) => Promise<Response>
}

/** One method on one path that belongs to no single agent. */
export interface UserRoute extends Pick<Route, 'method' | 'path' | 'optional' | 'forOperators'> {
  readonly handle: (server: ServerContext, request: UserRequest) => Promise<Response>
}

/** A request whose user is known. */
export interface UserRequest extends Exchange {
  readonly user: Pick<Owner, 'app' | 'user'>
  readonly claims: Claims
  readonly isOperator: boolean
  /** Where the request came from, if that is known. */
  readonly address: string | undefined
  readonly param: (name: string) => string
  readonly query: (name: string) => string | undefined
}

/** A request of a user to an agent. */
export interface RouteRequest extends UserRequest {
  readonly agent: Agent
  /** The owner of the threads that the request may see. */
  readonly owner: Owner
}

export function toAgentRequest(request: UserRequest, agent: Agent): RouteRequest {
  return { ...request, agent, owner: { ...request.user, agent: agent.name } }
}

/** Calls a route. One that streams takes one of the user's streams first, and gives it back when it fails. */
export async function callRoute(
  route: Route,
  server: ServerContext,
  request: RouteRequest,
): Promise<Response> {
  if (route.streams !== true) return route.handle(server, request)
  const share = takeStream(server, request.owner)
  try {
    return await route.handle(server, { ...request, share })
  } catch (error) {
    share.release()
    throw error
  }
}

/** Takes one of the user's streams. Throws TOO_MANY_STREAMS. */
export function takeStream({ streams, limits }: ServerContext, owner: UserRequest['user']): Share {
  const share = streams.open(owner)
  if (share.take(1)) return share
  const message = `This user has ${limits.streamsPerUser} open streams, and may not have more. Close one, or try again later.`
  throw new MillraceError('TOO_MANY_STREAMS', message)
}

/** Throws AGENT_NOT_FOUND. */
export function findAgent({ agents }: ServerContext, name: string): Agent {
  const agent = agents.get(name)
  if (agent) return agent
  const known = [...agents.keys()].join(', ')
  throw new MillraceError('AGENT_NOT_FOUND', `There is no such agent. There are: ${known}.`)
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
export function pageLimit({ query }: UserRequest): number | undefined {
  const text = query('limit')
  if (text === undefined) return undefined
  const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= maxPageSize) return limit
  throw new MillraceError('INVALID_INPUT', `limit: a number from 1 to ${maxPageSize} is expected.`)
}

export function jsonResponse(value: unknown): Response {
  return Response.json(value, { headers: { 'cache-control': 'no-store' } })
}
