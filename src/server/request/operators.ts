import { MillraceError } from '../../core/errors.js'
import type { Identity, Limits } from '../contract.js'
import type { UserRoute } from '../routes/route.js'
import { checkId } from './check-input.js'

const asUserHeader = 'millrace-as-user'

/** The user that an operator acts as in this request. Undefined: the operator, or whoever it is, acts as itself. */
export function wantedUser(request: Request, limits: Limits): string | undefined {
  const wanted = request.headers.get(asUserHeader)
  return wanted === null ? undefined : checkId(decodeHeader(wanted), asUserHeader, limits)
}

/** Headers are ASCII; names of users need not be. */
function decodeHeader(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Throws FORBIDDEN unless the user is an operator, and the route reads or cancels. */
export function checkActsAs(
  { isOperator }: Pick<Required<Identity>, 'isOperator'>,
  { method, forOperators = false }: Pick<UserRoute, 'method' | 'forOperators'>,
): void {
  if (!isOperator) throw forbidden('Only operators may act as another user.')
  if (method !== 'GET' && !forOperators)
    throw forbidden('Operators may look at what other users have and cancel their runs, and nothing else.')
}

export function forbidden(message: string): MillraceError {
  return new MillraceError('FORBIDDEN', message)
}
