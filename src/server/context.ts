import { checkAgents, type Agent } from '../agents/index.js'
import { systemClock, type Clock } from '../core/clock.js'
import { MillraceError } from '../core/errors.js'
import { randomIds, type IdSource } from '../core/ids.js'
import { createMemoryStore } from '../threads/memory/store.js'
import type { Store, ThreadKey } from '../threads/contract.js'
import {
  defaultLimits,
  type Limits,
  type Logger,
  type OptionalRoute,
  type ServerOptions,
  type StreamOptions,
  type ThreadRules,
} from './contract.js'
import type { Hooks } from './hooks/hooks.js'
import { createLogFlusher, type LogFlusher } from './live/run-feed.js'
import { createRunRegistry, type RunRegistry } from './live/registry.js'
import { createDefaultLogger } from './observe/default-logger.js'
import { createMetrics, type Metrics } from './observe/metrics.js'
import { createRecoveries, type Recoveries } from './recovery/recover-thread.js'
import { createHousekeeping, type Housekeeping } from './retention/housekeeping.js'
import { createStateRulesOf, type StateRulesHandle } from './state/state-rules.js'
import { Heartbeats } from './stream/heartbeat.js'

/** Everything that the parts of a server share. */
export interface ServerContext {
  readonly agents: ReadonlyMap<string, Agent>
  readonly store: Store
  readonly hooks: Hooks
  readonly limits: Limits
  /** What clients may see and change of the state of a thread. */
  readonly stateRulesOf: (key: Pick<ThreadKey, 'agent'>) => StateRulesHandle
  readonly threadRules: ThreadRules
  readonly whenBusy: Required<ServerOptions>['whenBusy']
  readonly onDisconnect: Required<ServerOptions>['onDisconnect']
  readonly history: Required<ServerOptions>['history']
  readonly stream: StreamOptions
  readonly routes: Required<ServerOptions>['routes']
  /** The name under which this server leases threads. */
  readonly owner: string
  readonly registry: RunRegistry
  readonly recoveries: Recoveries
  /** How many threads each user follows, by app and user. */
  readonly followers: Map<string, number>
  readonly flusher: LogFlusher
  readonly housekeeping: Housekeeping
  readonly heartbeats: Heartbeats
  readonly metrics: Metrics
  readonly log: Logger
  readonly clock: Clock
  readonly newId: IdSource
  /** True once the server takes no more runs. */
  readonly isClosing: () => boolean
}

/** Checks the options and fills in the defaults. Throws INVALID_OPTIONS or INVALID_AGENT. */
export function createServerContext(options: ServerOptions, isClosing: () => boolean): ServerContext {
  checkOptions(options)
  const { clock = systemClock, newId = randomIds, log = createDefaultLogger() } = options
  const limits = { ...defaultLimits, ...options.limits }
  const store = options.store ?? createMemoryStore({ clock })
  const owner = newId('server')
  const threadRules = options.threads ?? {}
  const metrics = createMetrics()
  const agents = agentsByName(options.agents)
  return {
    agents,
    store,
    hooks: options.hooks ?? {},
    limits,
    stateRulesOf: createStateRulesOf(options.state, agents),
    threadRules,
    whenBusy: options.whenBusy ?? 'reject',
    onDisconnect: options.onDisconnect ?? 'continue',
    history: options.history ?? 'server',
    stream: options.stream ?? {},
    routes: options.routes ?? {},
    owner,
    registry: createRunRegistry(limits),
    recoveries: createRecoveries(),
    followers: new Map(),
    flusher: createLogFlusher({
      ...{ clock, logFirst: options.stream?.logFirst === true },
      onProblem(error) {
        metrics.storeFailed()
        log.error({ err: error }, 'the log of a run could not be written; it is tried again')
      },
    }),
    housekeeping: createHousekeeping({
      ...{ store, agents, rules: threadRules, owner, leaseMs: limits.leaseMs, clock, log },
    }),
    heartbeats: new Heartbeats(clock, limits.heartbeatMs),
    metrics,
    log,
    clock,
    newId,
    isClosing,
  }
}

function agentsByName(agents: readonly Agent[]): ReadonlyMap<string, Agent> {
  checkAgents(agents, { of: 'A server', option: 'agents' })
  const byName = new Map<string, Agent>()
  for (const agent of agents) {
    const { name } = agent
    if (byName.has(name))
      throw new MillraceError('INVALID_AGENT', `Two agents are named '${name}'. Give each a name of its own.`)
    byName.set(name, agent)
  }
  return byName
}

/** Throws INVALID_OPTIONS, naming the option, for values that cannot be meant. */
export function checkOptions(options: ServerOptions): void {
  const { limits = {}, threads = {}, basePath = '', cors, routes = {}, stream = {} } = options
  for (const [group, values] of Object.entries({ limits, threads }))
    for (const [name, value] of Object.entries(values as Record<string, unknown>))
      if (value !== undefined && typeof value !== 'function' && !(typeof value === 'number' && value > 0))
        throw invalidOption(`${group}.${name}`, 'be a number above 0')
  if (basePath !== '' && !/^(?:\/[^/?#]+)+$/.test(basePath))
    throw invalidOption('basePath', 'begin with a slash and not end with one')
  for (const [name, isServed] of Object.entries(routes))
    if (!(name in optionalRoutes) || typeof isServed !== 'boolean')
      throw invalidOption(
        `routes.${name}`,
        `be true or false for one of ${Object.keys(optionalRoutes).join(', ')}`,
      )
  const lanes: string | undefined = stream.lanes
  if (lanes !== undefined && lanes !== 'interleaved' && lanes !== 'one-by-one')
    throw invalidOption('stream.lanes', "be 'interleaved' or 'one-by-one'")
  const origins = cors?.origins ?? []
  for (const origin of origins === '*' ? [] : origins)
    if (!isOrigin(origin)) throw invalidOption('cors.origins', 'be origins such as https://app.example.com')
}

const optionalRoutes: Readonly<Record<OptionalRoute, true>> = {
  ...{ connect: true, cancel: true, history: true, delete: true, patch: true, metrics: true },
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}

function invalidOption(name: string, must: string): MillraceError {
  return new MillraceError('INVALID_OPTIONS', `\`${name}\` must ${must}.`, { details: { option: name } })
}
