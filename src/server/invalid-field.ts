import { MillraceError } from '../core/errors.js'

/** The refusal of a request because of one field, which the message names. The message never shows what the field holds. */
export function invalidField(field: string, message: string): MillraceError {
  return new MillraceError('INVALID_INPUT', `${field}: ${message}`, { details: { field } })
}
