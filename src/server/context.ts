import { checkAgents, type Agent } from '../agents/index.js'
import { systemClock, type Clock } from '../core/clock.js'
import { MillraceError } from '../core/errors.js'
import { randomIds, type IdSource } from '../core/ids.js'
import { createMemoryStore } from '../threads/memory/store.js'
import type { Store, ThreadKey } from '../threads/contract.js'
import { checkOptions } from './check-options.js'
import {
  defaultLimits,
  type Limits,
  type Logger,
  type ServerOptions,
  type StreamOptions,
  type ThreadRules,
} from './contract.js'
import { consoleSettings } from './console/page.js'
import { createRunBoard, type RunBoard } from './console/run-board.js'
import type { Hooks } from './hooks/hooks.js'
import { createQuota, type Quota } from './limits/quota.js'
import { createRequestRates, type RequestRates } from './limits/request-rates.js'
import { createLogFlusher, type LogFlusher } from './live/run-feed.js'
import { createRunRegistry, type RunRegistry } from './live/registry.js'
import { createAudit, type Audit } from './observe/audit.js'
import { createDefaultLogger } from './observe/default-logger.js'
import { withErrorFacts } from './observe/error-facts.js'
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
  readonly rates: RequestRates
  /** The open streams. */
  readonly streams: Quota
  /** The bytes of the bodies that are being read. */
  readonly bodies: Quota
  /** What clients may see and change of the state of a thread. */
  readonly stateRulesOf: (key: Pick<ThreadKey, 'agent'>) => StateRulesHandle
  readonly threadRules: ThreadRules
  readonly whenBusy: Required<ServerOptions>['whenBusy']
  readonly onDisconnect: Required<ServerOptions>['onDisconnect']
  readonly history: Required<ServerOptions>['history']
  readonly stream: StreamOptions
  readonly routes: Required<ServerOptions>['routes']
  /** False for runs whose thread is forgotten when they end: no list has it. */
  readonly keepsThreads: boolean
  /** The name under which this server leases threads. */
  readonly owner: string
  readonly registry: RunRegistry
  readonly recoveries: Recoveries
  readonly flusher: LogFlusher
  readonly housekeeping: Housekeeping
  readonly heartbeats: Heartbeats
  readonly metrics: Metrics
  readonly log: Logger
  readonly audit: Audit
  /** What the console remembers of runs. Undefined without a console: nothing is recorded then. */
  readonly board: RunBoard | undefined
  readonly clock: Clock
  readonly newId: IdSource
  /** True once the server takes no more runs. */
  readonly isClosing: () => boolean
}

/** Checks the options and fills in the defaults. Throws INVALID_OPTIONS or INVALID_AGENT. */
export function createServerContext(options: ServerOptions, isClosing: () => boolean): ServerContext {
  checkOptions(options)
  const { clock = systemClock, newId = randomIds } = options
  const log = createLog(options)
  const limits = withDefaults(options.limits)
  const store = options.store ?? createMemoryStore({ clock })
  const owner = newId('server')
  const threadRules = options.threads ?? {}
  const metrics = createMetrics()
  const agents = agentsByName(options.agents)
  const { hooks = {}, stream = {} } = options
  return {
    agents,
    store,
    hooks,
    limits,
    rates: createRequestRates(limits, clock),
    streams: createQuota({ total: Infinity, perUser: limits.streamsPerUser }),
    bodies: createQuota({ total: limits.bytesInFlight, perUser: limits.bytesInFlightPerUser }),
    stateRulesOf: createStateRulesOf(options.state, agents),
    threadRules,
    whenBusy: options.whenBusy ?? 'reject',
    onDisconnect: options.onDisconnect ?? 'auto',
    history: options.history ?? 'server',
    stream,
    routes: options.routes ?? {},
    keepsThreads: true,
    owner,
    registry: createRunRegistry(limits),
    recoveries: createRecoveries(),
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
    board: consoleSettings(options.console) && createRunBoard({ clock, log }),
    audit: createAudit({ hooks, clock, limits, metrics, stream, log }),
    clock,
    newId,
    isClosing,
  }
}

/** An application may pass on what its configuration lacks. */
function withDefaults(limits: Partial<Limits> = {}): Limits {
  const entries = Object.entries(limits) as [string, number | undefined][]
  return { ...defaultLimits, ...Object.fromEntries(entries.filter(([, value]) => value !== undefined)) }
}

function createLog({ log = createDefaultLogger(), logErrors = 'facts' }: ServerOptions): Logger {
  return logErrors === 'full' ? log : withErrorFacts(log)
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
