import type { RunAgentInput } from '@ag-ui/core'
import { untilAborted } from '../core/abort.js'
import { systemClock, type Clock } from '../core/clock.js'
import { MillraceError } from '../core/errors.js'
import { describeError } from './describe.js'
import { createFrameReader } from './endpoint/frames.js'
import { checkHead, ExchangeStop, readEventBody, withDeadline } from './endpoint/response.js'
import { checkLintInput, lintEvents } from './lint-events.js'
import type { LintRule, Violation } from './rules/rule-names.js'

export interface LintEndpointOptions {
  /** More request headers, for example `authorization`. `accept` and `content-type` are fixed. */
  readonly headers?: Readonly<Record<string, string>>
  /** Names of client tools that the server has too, and therefore executes itself. */
  readonly serverTools?: readonly string[]
  /** Aborts the request; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** How long the whole run may take. */
  readonly timeoutMs?: number
  /** How long the body may stay open after the terminal event. */
  readonly closeWithinMs?: number
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  readonly clock?: Clock
}

/** The result of one request. */
export interface EndpointReport {
  /** Violations of the HTTP exchange, then those of the events. */
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
  const { timeoutMs = 30_000, closeWithinMs = 3_000, serverTools = [] } = options
  const target = parseUrl(url)
  const runInput = checkLintInput(input)
  const settings = { headers, signal, fetch, clock, timeoutMs, closeWithinMs }
  const exchange = await exchangeRun(target, runInput, settings)
  const { violations, events, status, isWhole } = exchange
  // When there are no events, the report has the reason already.
  const lintOptions = { input: runInput, serverTools, complete: isWhole }
  const found = events.length > 0 ? lintEvents(events, lintOptions) : []
  return { violations: [...violations, ...found], events, status }
}

function parseUrl(url: string | URL): URL {
  const parsed = URL.canParse(String(url)) ? new URL(url) : undefined
  if (parsed?.protocol === 'http:' || parsed?.protocol === 'https:') return parsed
  throw new MillraceError('INVALID_INPUT', `Not an http or https URL: '${String(url)}'`)
}

interface ExchangeOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
  readonly closeWithinMs: number
  readonly fetch: typeof globalThis.fetch
  readonly clock: Clock
}

interface LintedExchange {
  readonly violations: readonly Violation[]
  readonly events: readonly unknown[]
  readonly status: number | undefined
  /** Whether the stream was read to its end. */
  readonly isWhole: boolean
}

/** Posts the input and reads the whole answer. Rejects only with the reason of an aborted `signal`. */
async function exchangeRun(
  url: URL,
  input: RunAgentInput,
  options: ExchangeOptions,
): Promise<LintedExchange> {
  const { clock, fetch, headers, closeWithinMs } = options
  const violations: Violation[] = []
  const report = (rule: LintRule, message: string): void => {
    violations.push({ rule, message, index: undefined })
  }
  const frames = createFrameReader(report)
  const answer: { status?: number } = {}
  const cause = await toExchangeStop(
    withDeadline(options, async (stop) => {
      const request = { ...toRequest(input, headers), signal: stop.signal }
      const response = await untilAborted(fetch(url, request).catch(unreachable), stop.signal)
      answer.status = response.status
      const body = await untilAborted(checkHead(response, report), stop.signal)
      if (!body) return
      await readEventBody(body, { clock, frames, stop, closeWithinMs })
      if (frames.isEmpty) report('empty-body', `HTTP ${response.status} without an event in its body`)
    }),
  )
  if (cause) report(cause.rule, cause.message)
  const isWhole = frames.isReadable && (cause === undefined || cause.rule === 'stream-not-closed')
  return { violations, events: frames.events, status: answer.status, isWhole }
}

function toRequest(input: RunAgentInput, headers: ExchangeOptions['headers']): RequestInit {
  const fixed = { 'content-type': 'application/json', accept: 'text/event-stream' }
  const merged = new Headers(headers)
  for (const [name, value] of Object.entries(fixed)) merged.set(name, value)
  return { method: 'POST', headers: merged, body: JSON.stringify(input) }
}

async function toExchangeStop(work: Promise<void>): Promise<ExchangeStop | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    if (error instanceof ExchangeStop) return error
    throw error
  }
}

function unreachable(error: unknown): never {
  // Node says "fetch failed" and keeps the reason to the cause.
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  throw new ExchangeStop('http-unreachable', `no answer: ${describeError(cause)}`)
}
