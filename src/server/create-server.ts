import { delay } from '../core/abort.js'
import { type ServerContext, createServerContext } from './context.js'
import type { CloseOptions, Server, ServerOptions } from './contract.js'
import { loadThread } from './recovery/recover-thread.js'
import { serverClosing } from './run/lease.js'
import { Hono, type Context } from 'hono'
import { cors } from 'hono/cors'
import type { ServerResponse } from 'node:http'
import type { Agent } from '../agents/index.js'
import { MillraceError } from '../core/errors.js'
import { toErrorResponse } from './request/errors.js'
import { checkHost, createIdentify } from './request/identity.js'
import { capabilitiesRoute, listAgents } from './routes/agents.js'
import { cancelRoute } from './routes/cancel.js'
import { connectRoute } from './routes/connect.js'
import { deleteThreadRoute } from './routes/delete-thread.js'
import { followRoute } from './routes/follow.js'
import { listThreadsRoute } from './routes/list-threads.js'
import { messagesRoute } from './routes/messages.js'
import { health, metrics, readiness } from './routes/operations.js'
import { renameThreadRoute } from './routes/rename-thread.js'
import type { Route } from './routes/route.js'
import { rootRoute, runRoute } from './routes/run.js'
import { patchStateRoute, stateRoute } from './routes/state.js'
import { createThreadStates } from './state/thread-state.js'

/** How long runs may continue after `close`, in milliseconds. */
export const defaultGraceMs = 10_000

/**
 * Creates a server for agents.
 *
 * @example
 * const server = createServer({ agents: [agent], store: await createSqliteStore({ path: 'threads.db' }) })
 */
export function createServer(options: ServerOptions): Server {
  let isClosing = false
  const server = createServerContext(options, () => isClosing)
  const app = createApp(server, options)
  void recoverLostRuns(server)
  let closed: Promise<void> | undefined
  return {
    fetch: (request, env) => app.fetch(request, env),
    identifies: options.identify !== undefined,
    state: createThreadStates(server),
    async close({ graceMs = defaultGraceMs }: CloseOptions = {}) {
      isClosing = true
      closed ??= closeWhenIdle(server)
      const timer = new AbortController()
      const graceOver = delay(graceMs, { clock: server.clock, signal: timer.signal }).catch(() => undefined)
      await Promise.race([closed, graceOver])
      timer.abort()
      const reason = serverClosing()
      server.registry.starting.stopAll(reason)
      for (const run of server.registry.all()) run.stop(reason)
      await closed
    },
  }
}

async function closeWhenIdle({ registry, housekeeping, store }: ServerContext): Promise<void> {
  // A request that came before may still become a run.
  while (registry.starting.size > 0 || registry.size > 0)
    await Promise.allSettled([...registry.starting.all(), ...registry.all().map(({ done }) => done)])
  await housekeeping.close()
  await store.close()
}

/** Ends the runs that an earlier process left behind. One that fails here is tried again when its thread is requested. */
async function recoverLostRuns(server: ServerContext): Promise<void> {
  const { store, log } = server
  const report = (error: unknown): void => log.error({ err: error }, 'a lost run could not be ended')
  const keys = await store.threads.unfinished().catch(report)
  for (const key of keys ?? []) await loadThread(server, key).catch(report)
}

/** The routes of an agent, under `/agents/{name}`. The routes of the first agent also work without that prefix. */
const agentRoutes: readonly Route[] = [
  runRoute,
  connectRoute,
  followRoute,
  cancelRoute,
  listThreadsRoute,
  renameThreadRoute,
  deleteThreadRoute,
  messagesRoute,
  stateRoute,
  patchStateRoute,
  capabilitiesRoute,
]

/** The bindings that the Node adapter passes with a request. */
interface NodeBindings {
  readonly outgoing?: ServerResponse
}

type App = Hono<{ Bindings: NodeBindings }>
type AppContext = Context<{ Bindings: NodeBindings }>

/** Creates the HTTP application of a server: all of its routes, and one way to refuse a request. */
function createApp(server: ServerContext, options: ServerOptions): App {
  const { basePath = '', cors: allowed } = options
  const app: App = new Hono()
  const refuse = (error: unknown, route: string, method: string): Response => {
    const { status, headers, body } = toErrorResponse(error)
    if (status >= 500) server.log.error({ err: error }, 'a request failed')
    server.metrics.request({ route, method, status })
    return new Response(body, { status, headers })
  }
  app.onError((error, c) => refuse(error, 'other', c.req.method))
  app.notFound((c) => refuse(notFound(), 'other', c.req.method))
  if (allowed) {
    const origin = allowed.origins === '*' ? '*' : [...allowed.origins]
    app.use(cors({ origin, exposeHeaders: ['retry-after'] }))
  }
  app.use(async (c, next) => {
    checkPath(c.req.url)
    await next()
  })
  const endpoints = createEndpoints(server, options)
  for (const { method, path, handle } of endpoints) {
    app.on(method, fullPaths(path, basePath), async (c) => {
      try {
        const response = await handle(c)
        server.metrics.request({ route: path, method, status: response.status })
        return response
      } catch (error) {
        return refuse(error, path, method)
      }
    })
  }
  refuseOtherMethods(app, endpoints, basePath)
  return app
}

interface Endpoint {
  readonly method: Route['method']
  readonly path: string
  readonly handle: (c: AppContext) => Response | Promise<Response>
}

function createEndpoints(server: ServerContext, options: ServerOptions): readonly Endpoint[] {
  const identify = createIdentify(options.identify, server.limits)
  const [firstAgent] = server.agents.values()
  const { routes = {} } = options
  const served = agentRoutes.filter(({ optional }) => optional === undefined || routes[optional] !== false)
  const publicEndpoint = (path: string, handle: Endpoint['handle']): Endpoint => ({
    ...{ method: 'GET', path },
    handle(c) {
      if (!options.identify) checkHost(c.req.raw)
      return handle(c)
    },
  })
  const agentEndpoint = (route: Route, path: string): Endpoint => ({
    ...{ method: route.method, path },
    async handle(c) {
      const { app, user, claims } = await identify(c.req.raw)
      const agent = findAgent(c.req.param('agent'), server, firstAgent)
      return route.handle(server, {
        request: c.req.raw,
        nodeResponse: (c.env as NodeBindings | undefined)?.outgoing,
        // Only CORS sets headers, and to read them Hono creates a whole response.
        headers: options.cors ? Object.fromEntries(c.res.headers) : {},
        agent,
        owner: { app, user, agent: agent.name },
        claims,
        param: (name) => c.req.param(name) ?? '',
        query: (name) => c.req.query(name),
      })
    },
  })
  return [
    publicEndpoint('/healthz', health),
    publicEndpoint('/readyz', () => readiness(server)),
    ...(routes.metrics === false ? [] : [publicEndpoint('/metrics', () => metrics(server))]),
    {
      ...{ method: 'GET', path: '/agents' },
      async handle(c) {
        await identify(c.req.raw)
        return listAgents(server)
      },
    },
    agentEndpoint(rootRoute, '/'),
    ...served.flatMap((route) => [
      agentEndpoint(route, route.path),
      agentEndpoint(route, `/agents/:agent${route.path}`),
    ]),
  ]
}

function findAgent(name: string | undefined, { agents }: ServerContext, first: Agent | undefined): Agent {
  const agent = name === undefined ? first : agents.get(name)
  if (agent) return agent
  const known = [...agents.keys()].join(', ')
  throw new MillraceError('AGENT_NOT_FOUND', `There is no such agent. There are: ${known}.`)
}

/** The root also matches without its slash. */
function fullPaths(path: string, basePath: string): string[] {
  return path === '/' && basePath !== '' ? [basePath, `${basePath}/`] : [basePath + path]
}

/** Hono passes badly encoded paths on as they are. */
function checkPath(url: string): void {
  if (!url.includes('%')) return
  try {
    decodeURIComponent(new URL(url).pathname)
  } catch {
    throw new MillraceError('INVALID_INPUT', 'The path is badly encoded.')
  }
}

function notFound(): MillraceError {
  return new MillraceError('NOT_FOUND', 'There is nothing at this address. GET /agents lists the agents.')
}

function refuseOtherMethods(app: App, endpoints: readonly Endpoint[], basePath: string): void {
  const methods = new Map<string, string[]>()
  for (const { path, method } of endpoints) methods.set(path, [...(methods.get(path) ?? []), method])
  for (const [path, allowed] of methods) {
    app.on(['ALL'], fullPaths(path, basePath), (c) => {
      const allow = allowed.join(', ')
      const message = `${c.req.method} is not served here; ${allow} is.`
      throw new MillraceError('METHOD_NOT_ALLOWED', message, { details: { allow } })
    })
  }
}
