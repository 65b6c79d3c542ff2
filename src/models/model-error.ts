import { MillraceError } from '../core/errors.js'

/** The `details` of a MODEL_ERROR. */
export interface ModelFailure {
  /** The HTTP status, if there was one. */
  readonly status?: number
  readonly retryable: boolean
  /** The delay that the provider requested. */
  readonly retryAfterMs?: number
}

export function modelError(message: string, failure: ModelFailure, cause?: unknown): MillraceError {
  return new MillraceError('MODEL_ERROR', message, {
    details: { ...failure },
    ...(cause !== undefined && { cause }),
  })
}

/** Whether the same request may succeed later: time-out, conflict, too many requests, or a server error. */
export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500
}
