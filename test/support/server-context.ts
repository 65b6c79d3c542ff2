import { manualClock, type ManualClock } from '../../src/core/clock.js'
import { sequentialIds } from '../../src/core/ids.js'
import type { ServerContext } from '../../src/server/context.js'
import { defaultLimits, type Logger } from '../../src/server/contract.js'
import { createQuota } from '../../src/server/limits/quota.js'
import { createRequestRates } from '../../src/server/limits/request-rates.js'
import { createLogFlusher } from '../../src/server/live/run-feed.js'
import { createRunRegistry } from '../../src/server/live/registry.js'
import { createAudit } from '../../src/server/observe/audit.js'
import { createMetrics } from '../../src/server/observe/metrics.js'
import { createRecoveries } from '../../src/server/recovery/recover-thread.js'
import { createHousekeeping } from '../../src/server/retention/housekeeping.js'
import { createStateRulesOf } from '../../src/server/state/state-rules.js'
import { Heartbeats } from '../../src/server/stream/heartbeat.js'
import { createMemoryStore } from '../../src/threads/memory/store.js'

export interface ContextUnderTest {
  readonly server: ServerContext
  readonly clock: ManualClock
  /** What was logged, as `level message`. */
  readonly logged: string[]
}

/** What the parts of a server share, on a clock that stands still. */
export function createServerContext(
  given: Partial<ServerContext> & { clock?: ManualClock } = {},
): ContextUnderTest {
  const { clock = manualClock(1_000) } = given
  const logged: string[] = []
  const add = (level: string) => (_: object, message: string) => void logged.push(`${level} ${message}`)
  const log: Logger = { debug: add('debug'), info: add('info'), warn: add('warn'), error: add('error') }
  const store = given.store ?? createMemoryStore({ clock })
  const limits = given.limits ?? defaultLimits
  const owner = 'server-1'
  const server: ServerContext = {
    ...{ agents: new Map(), store, hooks: {}, limits, stateRulesOf: createStateRulesOf(), threadRules: {} },
    ...{ whenBusy: 'reject', onDisconnect: 'auto', history: 'server', stream: {}, routes: {}, owner },
    keepsThreads: true,
    board: undefined,
    rates: createRequestRates(limits, clock),
    streams: createQuota({ total: Infinity, perUser: limits.streamsPerUser }),
    bodies: createQuota({ total: limits.bytesInFlight, perUser: limits.bytesInFlightPerUser }),
    registry: createRunRegistry(limits),
    recoveries: createRecoveries(),
    flusher: createLogFlusher({ clock, onProblem: () => undefined }),
    housekeeping: createHousekeeping({
      ...{ agents: new Map(), store, rules: {}, owner, leaseMs: limits.leaseMs, clock, log },
    }),
    heartbeats: new Heartbeats(clock, limits.heartbeatMs),
    ...{ metrics: createMetrics(), log, newId: sequentialIds(), isClosing: () => false },
    audit: createAudit({ hooks: {}, clock, limits, metrics: createMetrics(), stream: {}, log }),
    ...given,
    clock,
  }
  return { server, clock, logged }
}
