import { MillraceError } from '../core/errors.js'

/** The `details` of a MODEL_ERROR. */
export interface ModelFailure {
  /** The HTTP status, if there was one. */
  readonly status?: number
  readonly retryable: boolean
  /** The delay that the provider requested. */
  readonly retryAfterMs?: number
}

/** `reason` is the provider's: it may quote the prompt, so it is not logged. */
export function modelError(
  what: string,
  failure: ModelFailure,
  { reason, cause }: { readonly reason?: string; readonly cause?: unknown } = {},
): MillraceError {
  return new MillraceError('MODEL_ERROR', reason === undefined ? what : `${what}: ${reason}`, {
    details: { ...failure },
    logMessage: what,
    ...(cause !== undefined && { cause }),
  })
}

/** Whether the same request may succeed later: time-out, conflict, too many requests, or a server error. */
export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500
}
