import { MillraceError } from '../../core/errors.js'

/** What a model is told when it asked for something that cannot be done. `cause` is for logs. */
export function toolError(message: string, cause?: unknown): MillraceError {
  return new MillraceError('TOOL_ERROR', message, cause === undefined ? {} : { cause })
}

export function isToolError(error: unknown): boolean {
  return MillraceError.isInstance(error) && error.code === 'TOOL_ERROR'
}
