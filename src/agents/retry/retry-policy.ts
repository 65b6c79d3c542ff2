import type { Message, TokenUsage, ToolCall } from '@ag-ui/core'
import { isAbortError } from '../../core/abort.js'
import { MillraceError, toWireError } from '../../core/errors.js'
import { isRetryableStatus, type FinishReason, type Model, type ModelRequest } from '../../models/index.js'
import { checkNumber } from '../check-number.js'

/** One finished attempt of a model call: it has an `error` or an `answer`. */
export interface ModelAttempt {
  /** Counts from 1, for this model. */
  readonly attempt: number
  readonly model: Model
  readonly request: ModelRequest
  readonly error?: unknown
  readonly answer?: {
    readonly text: string
    readonly toolCalls: readonly ToolCall[]
    readonly finishReason: FinishReason
    readonly usage?: TokenUsage
  }
}

/** A decision on an attempt. `undefined` leaves it to the defaults. An attempt that threw cannot be accepted. */
export type Verdict =
  | 'accept'
  | 'fail'
  | {
      readonly retry: true
      /** Shown to clients. */
      readonly reason: string
      /** Replaces the delay of the options. */
      readonly delayMs?: number
      /** The messages of the next attempt. Default: the same. */
      readonly messages?: readonly Message[]
    }
  | undefined

/** How often a model call is attempted, and after which delays. */
export interface RetryOptions {
  /** Attempts in all, the first one included. Default 3; 1 means no retry. */
  readonly attempts?: number
  /** The delay before the second attempt. Default 100. */
  readonly initialDelayMs?: number
  /** The factor of each later delay. Default 2. */
  readonly factor?: number
  /** The longest delay, unless the provider asks for more. Default 10,000. */
  readonly maxDelayMs?: number
  /** The share of a delay, from 0 to 1, that is random. Default 0.5. */
  readonly jitter?: number
  /** The longest delay a provider may ask for with Retry-After. Default 60,000. */
  readonly maxRetryAfterMs?: number
  /** Judges every attempt, also one that answered. Not called for aborts and interrupts. An error it throws fails the agent. */
  readonly verdict?: (attempt: ModelAttempt) => Verdict | Promise<Verdict>
}

/** Checked options with defaults. Make one with `toRetryPolicy`. */
export type RetryPolicy = Required<Omit<RetryOptions, 'verdict'>> & Pick<RetryOptions, 'verdict'>

/** The next step after an attempt. */
export type Decision =
  | { readonly type: 'accept' }
  /** Another attempt with the same model would not help. */
  | { readonly type: 'fail' }
  /** No attempt is left. */
  | { readonly type: 'exhausted'; readonly reason: string }
  /** The run was aborted or interrupted: no retry and no other model. */
  | { readonly type: 'stop' }
  | {
      readonly type: 'retry'
      readonly reason: string
      readonly delayMs: number
      readonly messages?: readonly Message[]
    }

/** Fills in the defaults. Throws INVALID_AGENT, naming the option, when one makes no sense. */
export function toRetryPolicy(options: RetryOptions = {}): RetryPolicy {
  const {
    attempts = 3,
    initialDelayMs = 100,
    factor = 2,
    maxDelayMs = 10_000,
    jitter = 0.5,
    maxRetryAfterMs = 60_000,
    verdict,
  } = options
  checkNumber('attempts', attempts, { min: 1, isInteger: true })
  checkNumber('initialDelayMs', initialDelayMs)
  checkNumber('factor', factor, { min: 1 })
  checkNumber('maxDelayMs', maxDelayMs)
  checkNumber('jitter', jitter, { max: 1 })
  checkNumber('maxRetryAfterMs', maxRetryAfterMs)
  const policy = { attempts, initialDelayMs, factor, maxDelayMs, jitter, maxRetryAfterMs }
  return verdict === undefined ? policy : { ...policy, verdict }
}

/** Decides what happens after an attempt. `random` returns numbers in [0, 1). Throws only what the verdict throws. */
export async function judgeAttempt(
  attempt: ModelAttempt,
  policy: RetryPolicy,
  random: () => number = Math.random,
): Promise<Decision> {
  const { signal } = attempt.request
  if (hasFailed(attempt) && (signal.aborted || isStop(attempt.error, signal))) return { type: 'stop' }
  const verdict = (await policy.verdict?.(attempt)) ?? defaultVerdict(attempt)
  if (verdict === 'accept') return { type: hasFailed(attempt) ? 'fail' : 'accept' }
  if (verdict === 'fail') return { type: 'fail' }
  const { reason, delayMs = delayBefore(attempt, policy, random), messages } = verdict
  if (attempt.attempt >= policy.attempts) return { type: 'exhausted', reason }
  return { type: 'retry', reason, delayMs, ...(messages && { messages }) }
}

function defaultVerdict(attempt: ModelAttempt): NonNullable<Verdict> {
  if (!hasFailed(attempt)) return 'accept'
  if (!isRetryableModelError(attempt.error, attempt.request.signal)) return 'fail'
  return { retry: true, reason: toWireError(attempt.error, 'MODEL_ERROR').message }
}

/** A model may throw anything, `undefined` too: an attempt without an answer has failed. */
function hasFailed({ error, answer }: ModelAttempt): boolean {
  return error !== undefined || answer === undefined
}

/**
 * The delay in milliseconds before the next attempt. It grows by `factor` up to `maxDelayMs`, less a random share of at
 * most `jitter`. A longer Retry-After of the provider wins, up to `maxRetryAfterMs`.
 */
export function delayBefore(
  { attempt, error }: Pick<ModelAttempt, 'attempt' | 'error'>,
  policy: RetryPolicy,
  random: () => number = Math.random,
): number {
  // Bounded first: 0 times an overflow to infinity would be no number.
  const growth = Math.min(policy.factor ** (attempt - 1), Number.MAX_VALUE)
  const base = Math.min(policy.initialDelayMs * growth, policy.maxDelayMs)
  const wanted = MillraceError.isInstance(error) ? error.details.retryAfterMs : undefined
  const retryAfter = typeof wanted === 'number' && wanted > 0 ? Math.min(wanted, policy.maxRetryAfterMs) : 0
  return Math.max(base * (1 - policy.jitter * random()), retryAfter)
}

/** Whether the run ends here: no retry and no other model. */
function isStop(error: unknown, signal?: AbortSignal): boolean {
  return isAbortError(error, signal) || fieldOf(error, 'name') === 'InterruptSignal'
}

/**
 * Whether the same call may succeed later: the provider was busy, failed or could not be reached. Never true of aborts,
 * interrupts, other refusals (4xx), and errors that do not come from the model.
 */
export function isRetryableModelError(error: unknown, signal?: AbortSignal): boolean {
  if (isStop(error, signal)) return false
  if (!MillraceError.isInstance(error)) {
    const status = fieldOf(error, 'status') ?? fieldOf(error, 'statusCode')
    return typeof status === 'number' ? isRetryableStatus(status) : isNetworkError(error)
  }
  if (error.code !== 'MODEL_ERROR') return false
  const { status, retryable } = error.details
  const isRefusal = typeof status === 'number' && status >= 400 && !isRetryableStatus(status)
  if (typeof retryable === 'boolean') return retryable && !isRefusal
  return typeof status === 'number' ? isRetryableStatus(status) : isNetworkError(error.cause)
}

const networkCodes = new Set([
  ...['ECONNABORTED', 'ECONNREFUSED', 'ECONNRESET', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETDOWN', 'ENETUNREACH'],
  ...['ENOTFOUND', 'EPIPE', 'ETIMEDOUT'],
  ...['UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_SOCKET'],
])

/** Looks at the codes of Node and undici, also on the cause: `fetch` wraps the error of the socket. */
function isNetworkError(error: unknown, depth = 3): boolean {
  if (depth === 0 || typeof error !== 'object' || error === null) return false
  const code = fieldOf(error, 'code')
  if (typeof code === 'string' && networkCodes.has(code)) return true
  return fieldOf(error, 'name') === 'TimeoutError' || isNetworkError(fieldOf(error, 'cause'), depth - 1)
}

export function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined
}
