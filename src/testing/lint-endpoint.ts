import { systemClock, type Clock } from '../core/clock.js'
import { MillraceError } from '../core/errors.js'
import { exchangeRun } from './endpoint/exchange.js'
import { lintEvents } from './lint-events.js'
import type { Violation } from './lint-rules.js'
import { checkedInput } from './checked-input.js'

/** How to make the request, and how long to wait. */
export interface LintEndpointOptions {
  /** More request headers, for example `authorization`. `accept` and `content-type` are fixed. */
  readonly headers?: Readonly<Record<string, string>>
  /** Gives up; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** How long the whole run may take. */
  readonly timeoutMs?: number
  /** How long the body may stay open after the terminal event. */
  readonly closeWithinMs?: number
  /** In place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  /** Where the time comes from. */
  readonly clock?: Clock
}

/** What came of one request. */
export interface EndpointReport {
  /** What is wrong with the exchange, then what is wrong with the events. */
  readonly violations: readonly Violation[]
  /** The documents of all frames, in order. */
  readonly events: readonly unknown[]
  /** The HTTP status, unless there was no answer. */
  readonly status: number | undefined
}

/**
 * Posts one RunAgentInput as `@ag-ui/client` does, reads the stream and lints the exchange. An endpoint that cannot
 * be reached, fails or hangs is reported as violations. Throws INVALID_INPUT when the URL or the input is not valid,
 * and the signal's reason when it is aborted.
 *
 * @example
 * const { violations } = await lintEndpoint('http://localhost:8000/agent', input)
 */
export async function lintEndpoint(
  url: string | URL,
  input: unknown,
  options: LintEndpointOptions = {},
): Promise<EndpointReport> {
  const { headers = {}, signal, fetch = globalThis.fetch, clock = systemClock } = options
  const { timeoutMs = 30_000, closeWithinMs = 3_000 } = options
  const target = parseUrl(url)
  const runInput = checkedInput(input)
  const settings = { headers, signal, fetch, clock, timeoutMs, closeWithinMs }
  const exchange = await exchangeRun(target, runInput, settings)
  const { violations, events, status, isWhole } = exchange
  // Without events there is a reason, and it is in the report: that they are missing adds nothing.
  const found = events.length > 0 ? lintEvents(events, { input: runInput, complete: isWhole }) : []
  return { violations: [...violations, ...found], events, status }
}

function parseUrl(url: string | URL): URL {
  const parsed = URL.canParse(String(url)) ? new URL(url) : undefined
  if (parsed?.protocol === 'http:' || parsed?.protocol === 'https:') return parsed
  throw new MillraceError('INVALID_INPUT', `Not an http or https URL: '${String(url)}'`)
}
