import { MillraceError } from '../../core/errors.js'

/** What is said to an answer that fits no open question. */
export function unknownInterrupt(interruptId: string, open: readonly string[]): MillraceError {
  const list = open.length > 0 ? `Open are: ${open.join(', ')}.` : 'None is open.'
  return new MillraceError('INVALID_RESUME', `There is no open question '${interruptId}'. ${list}`, {
    details: { interruptId, open },
  })
}
