import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import { isRetryableStatus, modelError, type ModelFailure } from '../model-error.js'

export interface FailedCall {
  /** For the message, for example `openai gpt-5-mini`. */
  readonly name: string
  /** Whether the provider had begun to answer. */
  readonly hasResponse: boolean
  readonly clock: Clock
}

// In the type or code of an error inside a stream: the same request would fail again.
const permanentFailure = /invalid|authentication|permission|not_found|context_length|quota|billing|content/

/** Converts anything that a provider threw, or sent as an `error` part, into the MODEL_ERROR that `Model` promises. */
export function toModelError(error: unknown, call: FailedCall): MillraceError {
  if (MillraceError.isInstance(error)) return error
  const known = isRecord(error) ? error : {}
  const status = httpStatus(known.statusCode) ?? httpStatus(known.code)
  const failure: ModelFailure = {
    ...(status !== undefined && { status }),
    retryable: isWorthRetrying(known, status, call),
    ...readRetryAfter(known.responseHeaders, call.clock),
  }
  const reason = typeof known.message === 'string' ? known.message : String(error)
  const what = `${call.name}${status === undefined ? '' : ` (HTTP ${status})`}`
  return modelError(what, failure, { reason, cause: error })
}

function isWorthRetrying(
  error: Record<string, unknown>,
  status: number | undefined,
  call: FailedCall,
): boolean {
  if (typeof error.isRetryable === 'boolean') return error.isRetryable
  if (status !== undefined) return isRetryableStatus(status)
  const name = String(error.name)
  if (name === 'TimeoutError' || name === 'AbortError') return true
  // The other errors of the AI SDK are about the request or the format of the answer.
  if (name.startsWith('AI_')) return false
  // Once the provider has answered, its connection or server failed, unless the error says otherwise.
  return call.hasResponse && !permanentFailure.test(`${String(error.type)} ${String(error.code)}`)
}

function httpStatus(value: unknown): number | undefined {
  const status = typeof value === 'string' ? Number(value) : value
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600
    ? status
    : undefined
}

function readRetryAfter(headers: unknown, clock: Clock): { retryAfterMs?: number } {
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
