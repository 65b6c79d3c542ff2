import { MillraceError } from '../core/errors.js'

/** What is known about a failed call. Becomes the `details` of the error. */
export interface ModelFailure {
  /** The HTTP status, when there was one. */
  readonly status?: number
  readonly retryable: boolean
  /** How long the provider asked to wait. */
  readonly retryAfterMs?: number
}

/** A failure of a model, as the port promises it. */
export function modelError(message: string, failure: ModelFailure, cause?: unknown): MillraceError {
  return new MillraceError('MODEL_ERROR', message, {
    details: { ...failure },
    ...(cause !== undefined && { cause }),
  })
}

/** Whether this HTTP status passes by itself: time-out, conflict, too many requests, or the server's own fault. */
export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500
}
