import { Hono, type Context } from 'hono'
import { cors } from 'hono/cors'
import type { ServerResponse } from 'node:http'
import type { Agent } from '../agents/index.js'
import { MillraceError } from '../core/errors.js'
import { toErrorResponse } from './request/errors.js'
import type { Identify } from './request/identity.js'
import type { ServerOptions } from './contract.js'
import { capabilitiesRoute, describeAgents } from './routes/agents.js'
import { cancelRoute } from './routes/cancel.js'
import { connectRoute } from './routes/connect.js'
import { health, metrics, readiness } from './routes/operations.js'
import { json, type Route, type RouteContext } from './routes/route.js'
import { rootRoute, runRoute } from './routes/run.js'
import { messagesRoute, patchRoute, stateRoute } from './routes/state.js'
import { deleteRoute, listRoute } from './routes/list-threads.js'

/** What the Node adapter hands over with a request. */
interface NodeBindings {
  readonly outgoing?: ServerResponse
}

type AppContext = Context<{ Bindings: NodeBindings }>

const routes: readonly Route[] = [
  runRoute,
  connectRoute,
  cancelRoute,
  listRoute,
  deleteRoute,
  messagesRoute,
  stateRoute,
  patchRoute,
  capabilitiesRoute,
]

export interface AppOptions extends Pick<ServerOptions, 'basePath' | 'cors'> {
  readonly server: RouteContext
  readonly identify: Identify
  readonly checkHost: (request: Request) => void
}

/** All routes of a server. */
export function createApp(options: AppOptions): Hono<{ Bindings: NodeBindings }> {
  const { server, basePath = '', cors: allowed } = options
  const app = new Hono<{ Bindings: NodeBindings }>()
  const refuse = (error: unknown, route: string, method: string): Response => {
    const { status, headers, body } = toErrorResponse(error)
    if (status >= 500) server.log.error({ err: error }, 'a request failed')
    server.metrics.request({ route, method, status })
    return new Response(body, { status, headers })
  }
  app.onError((error, c) => refuse(error, 'other', c.req.method))
  app.notFound((c) => refuse(nothingHere(), 'other', c.req.method))
  if (allowed) app.use(cors({ origin: allowed.origins === '*' ? '*' : [...allowed.origins] }))
  app.use(async (c, next) => {
    checkPath(c.req.url)
    await next()
  })
  const known = endpoints(options)
  for (const { method, path, handle } of known) {
    app.on(method, addressesOf(path, basePath), async (c) => {
      try {
        const response = await handle(c)
        server.metrics.request({ route: path, method, status: response.status })
        return response
      } catch (error) {
        return refuse(error, path, method)
      }
    })
  }
  refuseOtherMethods(app, known, basePath)
  return app
}

/** The root of a server is also found without the slash. */
function addressesOf(path: string, basePath: string): string[] {
  return path === '/' && basePath !== '' ? [basePath, `${basePath}/`] : [basePath + path]
}

function nothingHere(): MillraceError {
  return new MillraceError('NOT_FOUND', 'There is nothing at this address. GET /agents lists the agents.')
}

/** Hono leaves what is badly encoded as it is. */
function checkPath(url: string): void {
  if (!url.includes('%')) return
  try {
    decodeURIComponent(new URL(url).pathname)
  } catch {
    throw new MillraceError('INVALID_INPUT', 'The path is badly encoded.')
  }
}

interface Endpoint {
  readonly method: Route['method']
  readonly path: string
  readonly handle: (c: AppContext) => Promise<Response>
}

function endpoints({ server, identify, checkHost, cors: origins }: AppOptions): readonly Endpoint[] {
  const [first] = server.agents.values()
  const open = (path: string, handle: () => Response | Promise<Response>): Endpoint => ({
    ...{ method: 'GET', path },
    handle: async (c) => {
      checkHost(c.req.raw)
      return handle()
    },
  })
  const routed = (route: Route, path: string): Endpoint => ({
    ...{ method: route.method, path },
    async handle(c) {
      const { app, user } = await identify(c.req.raw)
      const agent = agentOf(c, server, first)
      return route.handle(server, {
        request: c.req.raw,
        outgoing: (c.env as NodeBindings | undefined)?.outgoing,
        // Hono makes a whole response to keep them in, so it is only asked where there are any.
        headers: origins ? Object.fromEntries(c.res.headers) : {},
        agent,
        owner: { app, user, agent: agent.name },
        param: (name) => c.req.param(name) ?? '',
        query: (name) => c.req.query(name),
      })
    },
  })
  return [
    open('/healthz', health),
    open('/readyz', () => readiness(server)),
    open('/metrics', () => metrics(server)),
    {
      ...{ method: 'GET', path: '/agents' },
      handle: async (c) => {
        await identify(c.req.raw)
        return json(describeAgents(server.agents.values()))
      },
    },
    routed(rootRoute, '/'),
    ...routes.flatMap((route) => [routed(route, route.path), routed(route, `/agents/:agent${route.path}`)]),
  ]
}

function agentOf(c: AppContext, { agents }: RouteContext, first: Agent | undefined): Agent {
  const name = c.req.param('agent')
  const agent = name === undefined ? first : agents.get(name)
  if (agent) return agent
  const known = [...agents.keys()].join(', ')
  throw new MillraceError('AGENT_NOT_FOUND', `There is no such agent. There are: ${known}.`)
}

function refuseOtherMethods(
  app: Hono<{ Bindings: NodeBindings }>,
  known: readonly Endpoint[],
  basePath: string,
): void {
  const methods = new Map<string, string[]>()
  for (const { path, method } of known) methods.set(path, [...(methods.get(path) ?? []), method])
  for (const [path, allowed] of methods) {
    app.on(['ALL'], addressesOf(path, basePath), (c) => {
      const allow = allowed.join(', ')
      const message = `${c.req.method} is not served here; ${allow} is.`
      throw new MillraceError('METHOD_NOT_ALLOWED', message, { details: { allow } })
    })
  }
}
