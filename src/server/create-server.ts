import type { Agent } from '../agents/index.js'
import { delay } from '../core/abort.js'
import { systemClock } from '../core/clock.js'
import { MillraceError } from '../core/errors.js'
import { randomIds } from '../core/ids.js'
import { createMemoryStore } from '../threads/memory.js'
import { createApp } from './app.js'
import { checkOptions } from './context.js'
import { defaultLimits, type ServerOptions } from './contract.js'
import { createFlusher } from './live/log-flusher.js'
import { createRegistry } from './live/registry.js'
import { createOpenings } from './live/starting-runs.js'
import { createDefaultLogger } from './observe/default-logger.js'
import { createMetrics } from './observe/metrics.js'
import { settledThread } from './recovery/recover-thread.js'
import { createRecoveries } from './recovery/recoveries.js'
import { checkHost, createIdentify } from './request/identity.js'
import { createHousekeeping } from './retention/housekeeping.js'
import type { RouteContext } from './routes/route.js'
import { serverClosing } from './run/server-closing.js'
import { createStateRules } from './state/state-rules.js'
import { createHeart } from './stream/heartbeat.js'

export interface Server {
  /** Answers a request: a Web-standard handler for any runtime. `millrace/node` serves it on Node. */
  readonly fetch: (request: Request, env?: object) => Response | Promise<Response>
  /** Whether it can tell its users apart. Without that it must not be reachable from elsewhere. */
  readonly identifies: boolean
  /**
   * Takes no more runs, lets those at work finish, and stops the rest when the time is over: each ends with a terminal
   * event. Closes the store. May be called twice; a shorter time then counts.
   */
  close(options?: CloseOptions): Promise<void>
}

export const defaultGraceMs = 10_000

export interface CloseOptions {
  /** How long runs may go on, in milliseconds. Default 10 s. */
  readonly graceMs?: number
}

/**
 * Makes a server of agents.
 *
 * @example
 * const server = createServer({ agents: [agent], store: await createSqliteStore({ path: 'threads.db' }) })
 */
export function createServer(options: ServerOptions): Server {
  checkOptions(options)
  let isClosing = false
  const server = createContext(options, () => isClosing)
  const app = createApp({
    ...options,
    server,
    identify: createIdentify(options.identify, server.limits),
    checkHost: options.identify ? () => undefined : checkHost,
  })
  void recoverAll(server)
  let closing: Promise<void> | undefined

  const shutDown = async (): Promise<void> => {
    // A run may be about to start when the doors close.
    while (server.openings.size > 0 || server.registry.size > 0)
      await Promise.allSettled([...server.openings.all(), ...server.registry.all().map(({ done }) => done)])
    await server.housekeeping.close()
    await server.store.close()
  }
  return {
    fetch: (request, env) => app.fetch(request, env),
    identifies: options.identify !== undefined,
    async close({ graceMs = defaultGraceMs } = {}) {
      isClosing = true
      closing ??= shutDown()
      const over = new AbortController()
      const patience = delay(graceMs, { clock: server.clock, signal: over.signal }).catch(() => undefined)
      await Promise.race([closing, patience])
      over.abort()
      const reason = serverClosing()
      server.openings.stop(reason)
      for (const run of server.registry.all()) run.stop(reason)
      await closing
    },
  }
}

function createContext(options: ServerOptions, isClosing: () => boolean): RouteContext {
  const { clock = systemClock, newId = randomIds, log = createDefaultLogger() } = options
  const limits = { ...defaultLimits, ...options.limits }
  const store = options.store ?? createMemoryStore({ clock })
  const owner = newId('server')
  const threadRules = options.threads ?? {}
  const metrics = createMetrics()
  const agents = byName(options.agents)
  return {
    agents,
    store,
    hooks: options.hooks ?? {},
    limits,
    stateRules: createStateRules(options.state),
    threadRules,
    whenBusy: options.whenBusy ?? 'reject',
    onDisconnect: options.onDisconnect ?? 'continue',
    history: options.history ?? 'server',
    owner,
    registry: createRegistry(limits),
    openings: createOpenings(),
    recoveries: createRecoveries(),
    flusher: createFlusher(clock, (error) => {
      metrics.storeFailed()
      log.error({ err: error }, 'the log of a run could not be written; it is tried again')
    }),
    housekeeping: createHousekeeping({
      store,
      agents,
      rules: threadRules,
      owner,
      leaseMs: limits.leaseMs,
      clock,
      log,
    }),
    heart: createHeart(clock, limits.heartbeatMs),
    metrics,
    log,
    clock,
    newId,
    isClosing,
  }
}

function byName(agents: readonly Agent[]): ReadonlyMap<string, Agent> {
  const named = new Map<string, Agent>()
  for (const agent of agents) {
    if (named.has(agent.name))
      throw new MillraceError(
        'INVALID_AGENT',
        `Two agents are named '${agent.name}'. Give each a name of its own.`,
      )
    named.set(agent.name, agent)
  }
  if (named.size === 0) throw new MillraceError('INVALID_AGENT', 'A server needs at least one agent.')
  return named
}

/** Ends the runs that were lost with an earlier process. Those that cannot be now are when their thread is asked for. */
async function recoverAll(server: RouteContext): Promise<void> {
  const { store, log } = server
  const report = (error: unknown): void => log.error({ err: error }, 'a lost run could not be ended')
  const keys = await store.threads.unfinished().catch(report)
  for (const key of keys ?? []) await settledThread(server, key).catch(report)
}
