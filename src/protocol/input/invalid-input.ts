import { MillraceError } from '../../core/errors.js'
import type { FieldNote } from '../check/field-note.js'

const maxIssues = 20

/** The refusal of a request: the message is about the first issue, `details.issues` lists up to 20. */
export function invalidInput(first: FieldNote, others: readonly FieldNote[] = []): MillraceError {
  const details = { field: first.field, issues: [first, ...others.slice(0, maxIssues - 1)] }
  return new MillraceError('INVALID_INPUT', `${first.field}: ${first.message}`, { details })
}
