import { errorCodes } from '../../core/error-codes.js'
import { MillraceError, toWireError } from '../../core/errors.js'
import type { ThreadKey } from '../../threads/contract.js'

/** Refuses a request because of one field. The message names the field and never shows its value. */
export function invalidField(field: string, message: string): MillraceError {
  return new MillraceError('INVALID_INPUT', `${field}: ${message}`, { details: { field } })
}

export function unknownThread({ thread }: ThreadKey): MillraceError {
  return new MillraceError('THREAD_NOT_FOUND', `There is no thread '${thread}'.`)
}

/** The response to a request that failed before a stream began. */
export interface ErrorResponse {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}

/**
 * Converts any thrown value to an HTTP response: its status and, as JSON, its code with the text that a client may read.
 * `details.allow` fills the `allow` header of a 405, `details.retryAfterSeconds` the `retry-after` of a 429 or 503.
 * Nothing else of the error is shown.
 */
export function toErrorResponse(error: unknown): ErrorResponse {
  const { status, details } = MillraceError.isInstance(error)
    ? error
    : { status: errorCodes.INTERNAL_ERROR.status, details: {} }
  const { code, message } = toWireError(error, 'INTERNAL_ERROR')
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...headersOfStatus(status, details),
    },
    body: JSON.stringify({ error: { code, message } }),
  }
}

function headersOfStatus(status: number, details: MillraceError['details']): Record<string, string> {
  switch (status) {
    case 401:
      return { 'www-authenticate': 'Bearer' }
    case 405:
      return { allow: typeof details.allow === 'string' ? details.allow : '' }
    case 429:
    case 503:
      return { 'retry-after': retryAfter(details.retryAfterSeconds) }
    default:
      return {}
  }
}

function retryAfter(seconds: unknown): string {
  return typeof seconds === 'number' && seconds >= 0 && Number.isFinite(seconds)
    ? String(Math.ceil(seconds))
    : '1'
}
