import type { RunAgentInput } from '@ag-ui/core'
import type { Clock } from '../../core/clock.js'
import { describeError } from '../describe.js'
import type { LintRule, Violation } from '../lint-rules.js'
import { checkHead } from './check-head.js'
import { createFrameReader } from './frames.js'
import { readBody } from './read-body.js'
import { untilAborted } from '../../core/abort.js'
import { Stop, withDeadline } from './stop.js'

/** How to make the request. */
export interface ExchangeOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
  readonly closeWithinMs: number
  readonly fetch: typeof globalThis.fetch
  readonly clock: Clock
}

/** What came of one request. */
export interface Exchange {
  readonly violations: readonly Violation[]
  readonly events: readonly unknown[]
  readonly status: number | undefined
  /** Whether the stream was read to its end. */
  readonly isWhole: boolean
}

/** Posts the input and reads the whole answer. Rejects only with the reason of an aborted `signal`. */
export async function exchangeRun(
  url: URL,
  input: RunAgentInput,
  options: ExchangeOptions,
): Promise<Exchange> {
  const { clock, fetch, headers, closeWithinMs } = options
  const violations: Violation[] = []
  const report = (rule: LintRule, message: string): void => {
    violations.push({ rule, message, index: undefined })
  }
  const frames = createFrameReader(report)
  const answer: { status?: number } = {}
  const cause = await reasonToStop(
    withDeadline(options, async (stop) => {
      const request = { ...toRequest(input, headers), signal: stop.signal }
      const response = await untilAborted(fetch(url, request).catch(unreachable), stop.signal)
      answer.status = response.status
      const body = await untilAborted(checkHead(response, report), stop.signal)
      if (!body) return
      await readBody(body, { clock, frames, stop, closeWithinMs })
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

async function reasonToStop(work: Promise<void>): Promise<Stop | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    if (error instanceof Stop) return error
    throw error
  }
}

function unreachable(error: unknown): never {
  // Node says "fetch failed" and keeps the reason to the cause.
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  throw new Stop('http-unreachable', `no answer: ${describeError(cause)}`)
}
