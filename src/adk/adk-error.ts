import { MillraceError } from '../core/errors.js'
import { isPassingCode } from './retry/failure.js'

/** The error a run ends with when ADK's last word was an error event. */
export function adkError({
  code,
  message,
}: {
  readonly code: string
  readonly message: string
}): MillraceError {
  if (code === 'MAX_RETRIES_EXCEEDED') return new MillraceError(code, message)
  // Providers give their HTTP status as the code; reasons to finish (SAFETY, for example) are words.
  const status = /^[1-5]\d\d$/.test(code) ? { status: Number(code) } : {}
  return new MillraceError('MODEL_ERROR', message === '' ? `The model stopped: ${code}.` : message, {
    details: { adkCode: code, retryable: isPassingCode(code), ...status },
  })
}
