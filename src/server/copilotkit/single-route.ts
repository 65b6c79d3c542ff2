import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import { readJson } from '../request/read-json.js'
import type { UserRequest, UserRoute } from '../routes/route.js'
import { withBody } from './request-body.js'
import { isForSuggestions } from './suggestions.js'

/** What a call over the single route asks for: the same as a request to one of the other routes. */
interface Call {
  readonly method: string
  /** Segments, as they are matched with those of a route. */
  readonly segments: readonly string[]
  readonly query: URLSearchParams
  readonly body: unknown
}

/**
 * `POST /` with `{ method, params, body }`: any other route, over one address. Threads are asked for with
 * `resource/request` and their own path.
 */
export function createSingleRoute(routes: readonly UserRoute[]): UserRoute {
  return {
    method: 'POST',
    path: '/',
    async handle(server, request) {
      const call = readCall(await readJson(request.request, request.user, server))
      for (const route of routes) {
        const params = route.method === call.method ? matchPath(route.path, call.segments) : undefined
        if (params) return route.handle(server, toRouteRequest(request, call, params))
      }
      throw notServed()
    },
  }
}

function toRouteRequest(
  request: UserRequest,
  { method, query, body }: Call,
  params: Readonly<Record<string, string>>,
): UserRequest {
  return {
    ...(method === 'GET' ? request : withBody(request, body ?? {})),
    param: (name) => params[name] ?? '',
    query: (name) => query.get(name) ?? undefined,
  }
}

function readCall(envelope: unknown): Call {
  const { method, params, body } = isRecord(envelope) ? envelope : {}
  const text = (name: string): string => textIn(params, name)
  const query = new URLSearchParams()
  switch (method) {
    case 'info':
      return { method: 'GET', segments: ['info'], query, body }
    case 'agent/run':
    case 'agent/connect':
    case 'agent/suggest': {
      const action = isForSuggestions(body) ? 'suggest' : method.slice('agent/'.length)
      return { method: 'POST', segments: ['agent', text('agentId'), action], query, body }
    }
    case 'agent/stop':
      return { method: 'POST', segments: ['agent', text('agentId'), 'stop', text('threadId')], query, body }
    case 'resource/request':
      return { ...parsePath(text('path')), method: text('httpMethod').toUpperCase(), body }
    default:
      throw new MillraceError('INVALID_INPUT', `method: one of ${methods.join(', ')} is expected.`)
  }
}

const methods = ['info', 'agent/run', 'agent/connect', 'agent/suggest', 'agent/stop', 'resource/request']

function textIn(params: unknown, name: string): string {
  const value = isRecord(params) ? params[name] : undefined
  if (typeof value === 'string' && value !== '') return value
  throw new MillraceError('INVALID_INPUT', `params.${name}: a text is expected.`)
}

/** Only paths of threads: what is not a resource has a method of its own. */
function parsePath(path: string): Pick<Call, 'segments' | 'query'> {
  const [pathname = '', search = ''] = path.split('?', 2)
  const segments = pathname.split('/').slice(1).map(decodeSegment)
  if (!pathname.startsWith('/') || segments[0] !== 'threads') throw notServed()
  return { segments, query: new URLSearchParams(search) }
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new MillraceError('INVALID_INPUT', 'params.path: it is badly encoded.')
  }
}

/** The parameters of a route's path, or undefined if it is another path. */
function matchPath(path: string, segments: readonly string[]): Readonly<Record<string, string>> | undefined {
  const pattern = path.split('/').slice(1)
  if (pattern.length !== segments.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, name] of pattern.entries()) {
    const segment = segments[index] ?? ''
    if (name.startsWith(':')) params[name.slice(1)] = segment
    else if (name !== segment) return undefined
  }
  return params
}

function notServed(): MillraceError {
  return new MillraceError('NOT_FOUND', 'There is nothing to call by this method and these params.')
}
