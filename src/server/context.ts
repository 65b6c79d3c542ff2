import type { Agent } from '../agents/index.js'
import type { Clock } from '../core/clock.js'
import type { IdSource } from '../core/ids.js'
import type { Store } from '../threads/store.js'
import type { Hooks } from './hooks/hooks.js'
import type { Housekeeping } from './housekeeping.js'
import type { Limits } from './limits.js'
import type { Flusher } from './live/log-flusher.js'
import type { Registry } from './live/registry.js'
import type { Logger } from './logger.js'
import type { Metrics } from './metrics.js'
import type { ServerOptions, ThreadRules } from './options.js'
import type { Openings } from './live/starting-runs.js'
import type { Recoveries } from './recovery/recoveries.js'
import type { StateRulesHandle } from './state/state-rules.js'

/** What the parts of a server share. */
export interface ServerContext {
  readonly agents: ReadonlyMap<string, Agent>
  readonly store: Store
  readonly hooks: Hooks
  readonly limits: Limits
  readonly stateRules: StateRulesHandle
  readonly threadRules: ThreadRules
  readonly whenBusy: Required<ServerOptions>['whenBusy']
  readonly onDisconnect: Required<ServerOptions>['onDisconnect']
  readonly history: Required<ServerOptions>['history']
  /** This server, as the owner of leases. */
  readonly owner: string
  readonly registry: Registry
  /** Requests that may still become runs. */
  readonly openings: Openings
  readonly recoveries: Recoveries
  readonly flusher: Flusher
  readonly housekeeping: Housekeeping
  readonly metrics: Metrics
  readonly log: Logger
  readonly clock: Clock
  readonly newId: IdSource
  /** Set when it takes no more runs. */
  readonly isClosing: () => boolean
}
