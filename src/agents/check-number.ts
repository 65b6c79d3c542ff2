import { MillraceError } from '../core/errors.js'

/** The allowed values of an option. */
export interface NumberRange {
  readonly min?: number
  readonly max?: number
  readonly isInteger?: boolean
}

/** Throws INVALID_AGENT, naming the option, unless its value is a finite number in the range, which starts at 0. */
export function checkNumber(option: string, value: unknown, range: NumberRange = {}): void {
  const { min = 0, max = Number.MAX_VALUE, isInteger = false } = range
  const isNumber = typeof value === 'number' && value >= min && value <= max
  if (isNumber && (!isInteger || Number.isInteger(value))) return
  const kind = isInteger ? 'an integer' : 'a number'
  const rule = max === Number.MAX_VALUE ? `${kind} of at least ${min}` : `${kind} from ${min} to ${max}`
  throw new MillraceError('INVALID_AGENT', `The option '${option}' must be ${rule}, not ${String(value)}.`, {
    details: { option, value },
  })
}
