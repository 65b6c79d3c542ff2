import type { Agent } from '../agents/index.js'
import type { Clock } from '../core/clock.js'
import { MillraceError } from '../core/errors.js'
import type { IdSource } from '../core/ids.js'
import type { Store } from '../threads/store.js'
import type { Limits, Logger, ServerOptions, ThreadRules } from './contract.js'
import type { Hooks } from './hooks/hooks.js'
import type { Flusher } from './live/log-flusher.js'
import type { Registry } from './live/registry.js'
import type { Openings } from './live/starting-runs.js'
import type { Metrics } from './observe/metrics.js'
import type { Recoveries } from './recovery/recoveries.js'
import type { Housekeeping } from './retention/housekeeping.js'
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

/** Throws INVALID_OPTIONS, naming the option, for what cannot be meant. */
export function checkOptions({ limits = {}, threads = {}, basePath = '', cors }: ServerOptions): void {
  for (const [name, value] of Object.entries({
    ...prefixed('limits', limits),
    ...prefixed('threads', threads),
  }))
    if (typeof value !== 'function') checkPositive(name, value)
  if (basePath !== '' && !/^(?:\/[^/?#]+)+$/.test(basePath))
    throw invalid('basePath', 'begin with a slash and not end with one')
  const origins = cors?.origins ?? []
  for (const origin of origins === '*' ? [] : origins)
    if (!isOrigin(origin)) throw invalid('cors.origins', 'be origins such as https://app.example.com')
}

function prefixed(group: string, values: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`${group}.${name}`, value as unknown]),
  )
}

function checkPositive(name: string, value: unknown): void {
  if (value !== undefined && !(typeof value === 'number' && value > 0))
    throw invalid(name, 'be a number above 0')
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}

function invalid(name: string, must: string): MillraceError {
  return new MillraceError('INVALID_OPTIONS', `\`${name}\` must ${must}.`, { details: { option: name } })
}
