import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/is-record.js'
import { isRetryableStatus, modelError, type ModelFailure } from '../model-error.js'

/** What is known about the call that failed. */
export interface CallFacts {
  /** For the message, for example `openai gpt-5-mini`. */
  readonly name: string
  /** Whether the provider had begun to answer. */
  readonly isAnswering: boolean
  readonly clock: Clock
}

// Words in the type or code of an error inside a stream that mean: the same request would fail again.
const permanent = /invalid|authentication|permission|not_found|context_length|quota|billing|content/

/** Makes of anything a provider threw, or sent as an `error` part, the error that the port promises. */
export function toModelError(error: unknown, facts: CallFacts): MillraceError {
  if (MillraceError.isInstance(error)) return error
  const known = isRecord(error) ? error : {}
  const status = httpStatus(known.statusCode) ?? httpStatus(known.code)
  const failure: ModelFailure = {
    ...(status !== undefined && { status }),
    retryable: isRetryable(known, status, facts),
    ...retryAfter(known.responseHeaders, facts.clock),
  }
  const text = typeof known.message === 'string' ? known.message : String(error)
  return modelError(
    `${facts.name}${status === undefined ? '' : ` (HTTP ${status})`}: ${text}`,
    failure,
    error,
  )
}

function isRetryable(error: Record<string, unknown>, status: number | undefined, facts: CallFacts): boolean {
  if (typeof error.isRetryable === 'boolean') return error.isRetryable
  if (status !== undefined) return isRetryableStatus(status)
  const name = String(error.name)
  if (name === 'TimeoutError' || name === 'AbortError') return true
  // The other errors of the AI SDK are about the request or the format of the answer.
  if (name.startsWith('AI_')) return false
  // Once the provider answers, what fails is the line or its server, unless it says otherwise.
  return facts.isAnswering && !permanent.test(`${String(error.type)} ${String(error.code)}`)
}

function httpStatus(value: unknown): number | undefined {
  const status = typeof value === 'string' ? Number(value) : value
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600
    ? status
    : undefined
}

function retryAfter(headers: unknown, clock: Clock): { retryAfterMs?: number } {
  if (!isRecord(headers)) return {}
  const after = String(headers['retry-after'])
  const candidates = [
    Number(headers['retry-after-ms']),
    Number(after) * 1000,
    Date.parse(after) - clock.now(),
  ]
  const retryAfterMs = candidates.find((ms) => Number.isFinite(ms) && ms >= 0)
  return retryAfterMs === undefined ? {} : { retryAfterMs }
}
