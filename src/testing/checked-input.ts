import { omitOptionalNulls, type RunAgentInput } from '@ag-ui/core'
import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import { MillraceError } from '../core/errors.js'
import { describeError } from './describe.js'

/** Parses the caller's own input. Throws INVALID_INPUT: it is not the producer that is wrong then. */
export function checkedInput(input: unknown): RunAgentInput {
  const parsed = RunAgentInputSchema.safeParse(omitOptionalNulls(input, 'RunAgentInput'))
  // The schema's type allows an explicit undefined where the protocol's has an absent field.
  if (parsed.success) return parsed.data as RunAgentInput
  throw new MillraceError('INVALID_INPUT', `Not a RunAgentInput: ${describeError(parsed.error)}`)
}
