import { delay } from '../core/abort.js'
import { type ServerContext, createServerContext } from './context.js'
import type { CloseOptions, Server, ServerOptions } from './contract.js'
import { consoleSettings, createConsolePage } from './console/page.js'
import { consoleRoutes } from './console/routes.js'
import type { StaticFiles } from './console/static-files.js'
import { copilotKitRoutes } from './copilotkit/routes.js'
import { loadThread } from './recovery/recover-thread.js'
import { serverClosing } from './run/lease.js'
import { Hono, type Context, type MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { MillraceError } from '../core/errors.js'
import { createAdmission, type Admission } from './limits/admission.js'
import { createLateRefusals } from './limits/late-refusals.js'
import { toErrorResponse } from './request/errors.js'
import { checkHost } from './request/identity.js'
import { checkActsAs, wantedUser } from './request/operators.js'
import { capabilitiesRoute, listAgents } from './routes/agents.js'
import { cancelRoute } from './routes/cancel.js'
import { connectRoute } from './routes/connect.js'
import { deleteThreadRoute } from './routes/delete-thread.js'
import { followRoute } from './routes/follow.js'
import { labelThreadRoute } from './routes/label-thread.js'
import { listThreadsRoute } from './routes/list-threads.js'
import { messagesRoute } from './routes/messages.js'
import { health, metrics, readiness } from './routes/operations.js'
import { callRoute, findAgent, toAgentRequest, type Route, type UserRoute } from './routes/route.js'
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
export function createServer(options: ServerOptions, internals: ServerInternals = {}): Server {
  let isClosing = false
  const server = createServerContext(options, () => isClosing)
  const app = createApp(server, options, internals)
  void recoverLostRuns(server)
  let closed: Promise<void> | undefined
  return {
    fetch: (request, env) => app.fetch(request, env),
    identifies: options.identify !== undefined,
    limits: server.limits,
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

/** For tests of the server itself. */
interface ServerInternals {
  readonly consoleFiles?: StaticFiles
}

async function closeWhenIdle({ registry, housekeeping, audit, store }: ServerContext): Promise<void> {
  // A request that came before may still become a run.
  while (registry.starting.size > 0 || registry.size > 0)
    await Promise.allSettled([...registry.starting.all(), ...registry.all().map(({ done }) => done)])
  registry.close()
  await housekeeping.close()
  await audit.settled()
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
  labelThreadRoute,
  deleteThreadRoute,
  messagesRoute,
  stateRoute,
  patchStateRoute,
  capabilitiesRoute,
]

/**
 * What `createListener` passes with a request. Other adapters have bindings of their own: behind theirs stands an application
 * that may add headers, so a response must go through it.
 */
interface NodeBindings {
  readonly nodeRequest?: IncomingMessage
  readonly nodeResponse?: ServerResponse
}

type App = Hono<{ Bindings: NodeBindings }>
type AppContext = Context<{ Bindings: NodeBindings }>

/** Creates the HTTP application of a server: all of its routes, and one way to refuse a request. */
function createApp(server: ServerContext, options: ServerOptions, internals: ServerInternals): App {
  const { basePath = '', cors: allowed } = options
  const app: App = new Hono()
  const lateRefusal = createLateRefusals(server.clock)
  const refuse = async (error: unknown, route: string, method: string): Promise<Response> => {
    const { status, headers, body } = toErrorResponse(error)
    if (status >= 500) server.log.error({ err: error }, 'a request failed')
    server.metrics.request({ route, method, status })
    if (isRateLimited(error)) await lateRefusal()
    return new Response(body, { status, headers })
  }
  app.onError((error, c) => refuse(error, 'other', c.req.method))
  app.notFound((c) => refuse(notFound(), 'other', c.req.method))
  if (allowed) app.use(corsOf(allowed))
  const admission = createAdmission(server, options)
  const uncounted = new Set(operatorPaths.map((path) => basePath + path))
  app.use(async (c, next) => {
    if (!uncounted.has(c.req.path)) admission.count(arrivalOf(c))
    checkPath(c.req.url)
    await next()
  })
  const endpoints = createEndpoints(server, { ...options, ...internals }, admission)
  for (const { method, path, handle } of endpoints) {
    app.on(method, fullPaths(path, basePath), async (c) => {
      try {
        const response = await handle(c)
        server.metrics.request({ route: path, method, status: response.status })
        // Nobody reads the body, and a stream would stay open.
        if (c.req.method === 'HEAD') await response.body?.cancel()
        return response
      } catch (error) {
        return await refuse(error, path, method)
      }
    })
  }
  refuseOtherMethods(app, endpoints, basePath)
  return app
}

/** Pages may send any header: Hono allows those that a preflight asks for. */
function corsOf({ origins, credentials = false }: NonNullable<ServerOptions['cors']>): MiddlewareHandler {
  return cors({
    origin: origins === '*' ? '*' : [...origins],
    credentials,
    exposeHeaders: ['Retry-After'],
  })
}

/** Probes and scrapers. They are never refused for their rate: an orchestrator would end the process. */
const operatorPaths = ['/healthz', '/readyz', '/metrics']

function arrivalOf({ req, env }: AppContext): Parameters<Admission['count']>[0] {
  const { nodeRequest } = (env as NodeBindings | undefined) ?? {}
  return { request: req.raw, socketAddress: nodeRequest?.socket.remoteAddress }
}

interface Endpoint {
  readonly method: Route['method']
  readonly path: string
  readonly handle: (c: AppContext) => Response | Promise<Response>
}

function createEndpoints(
  server: ServerContext,
  options: ServerOptions & ServerInternals,
  admission: Admission,
): readonly Endpoint[] {
  const [firstAgent = ''] = server.agents.keys()
  const { routes = {} } = options
  const served = agentRoutes.filter(({ optional }) => optional === undefined || routes[optional] !== false)
  const publicEndpoint = (path: string, handle: Endpoint['handle']): Endpoint => ({
    ...{ method: 'GET', path },
    handle(c) {
      if (!options.identify) checkHost(c.req.raw)
      return handle(c)
    },
  })
  const userEndpoint = createUserEndpoint(server, options, admission)
  const agentEndpoint = (route: Route, path: string): Endpoint =>
    userEndpoint({
      ...{ method: route.method, path, ...(route.forOperators && { forOperators: true }) },
      handle(_, request) {
        const agent = findAgent(server, request.param('agent') || firstAgent)
        return callRoute(route, server, toAgentRequest(request, agent))
      },
    })
  return [
    publicEndpoint('/healthz', health),
    publicEndpoint('/readyz', () => readiness(server)),
    ...(routes.metrics === false ? [] : [publicEndpoint('/metrics', () => metrics(server))]),
    {
      ...{ method: 'GET', path: '/agents' },
      async handle(c) {
        await admission.identify(arrivalOf(c), '/agents')
        return listAgents(server)
      },
    },
    agentEndpoint(rootRoute, '/'),
    ...served.flatMap((route) => [
      agentEndpoint(route, route.path),
      agentEndpoint(route, `/agents/:agent${route.path}`),
    ]),
    ...copilotKitRoutes(options).map(userEndpoint),
    ...consoleRoutes(options).map(userEndpoint),
    ...consoleEndpoints(options).map(({ path, handle }) => publicEndpoint(path, handle)),
  ]
}

/** Makes endpoints whose user is known. An operator may send a request for another user. */
function createUserEndpoint(
  server: ServerContext,
  options: ServerOptions,
  admission: Admission,
): (route: UserRoute) => Endpoint {
  return (route) => ({
    ...{ method: route.method, path: route.path },
    async handle(c) {
      const arrival = arrivalOf(c)
      const { method, path } = route
      const identity = await admission.identify(arrival, path)
      const { app, claims, isOperator } = identity
      const address = admission.addressOf(arrival)
      const respond = (user: string): Promise<Response> =>
        route.handle(server, {
          request: c.req.raw,
          address,
          nodeResponse: (c.env as NodeBindings | undefined)?.nodeResponse,
          // Only CORS sets headers, and to read them Hono creates a whole response.
          headers: options.cors ? Object.fromEntries(c.res.headers) : {},
          user: { app, user },
          claims,
          isOperator,
          param: (name) => c.req.param(name) ?? '',
          query: (name) => c.req.query(name),
        })
      const asUser = wantedUser(c.req.raw, server.limits)
      if (asUser === undefined) return respond(identity.user)
      const asked = {
        action: 'act-as' as const,
        app,
        user: identity.user,
        asUser,
        method,
        route: path,
        address,
      }
      return server.audit.during(asked, () => {
        checkActsAs(identity, route)
        return respond(asUser)
      })
    },
  })
}

/** The files of the console's page. */
function consoleEndpoints({
  console: option,
  basePath = '',
  consoleFiles: files,
}: ServerOptions & ServerInternals): readonly Omit<Endpoint, 'method'>[] {
  const settings = consoleSettings(option)
  if (!settings) return []
  const page = createConsolePage({ ...settings, basePath, ...(files && { files }) })
  return [
    { path: '/', handle: (c) => page.redirect(c.req.raw) },
    // Also the path without anything below it.
    { path: `${settings.path}/*`, handle: (c) => page.file(c.req.raw) },
  ]
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

function isRateLimited(error: unknown): boolean {
  return MillraceError.isInstance(error) && error.code === 'RATE_LIMITED'
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
