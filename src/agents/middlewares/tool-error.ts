import { MillraceError } from '../../core/errors.js'

/** The model reads the message; `cause` is for logs. */
export function toolError(message: string, cause?: unknown): MillraceError {
  return new MillraceError('TOOL_ERROR', message, cause === undefined ? {} : { cause })
}

export function hasToolErrorCode(error: unknown): boolean {
  return MillraceError.isInstance(error) && error.code === 'TOOL_ERROR'
}
