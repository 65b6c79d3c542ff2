import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import { toolError } from './tool-error.js'

/** Throws INVALID_AGENT unless the value of this option can be a member of the shared state. */
export function checkStateKey(option: string, key: string): void {
  if (key === '' || key === '__proto__')
    throw new MillraceError(
      'INVALID_AGENT',
      `The option '${option}' must be the name of a member, not '${key}'.`,
    )
}

/** One member of the shared state, which may be anything. */
export function readStateKey(state: unknown, key: string): unknown {
  return isRecord(state) && Object.hasOwn(state, key) ? state[key] : undefined
}

/** The state with one member replaced. Throws TOOL_ERROR if the state cannot have members. */
export function withStateKey(state: unknown, key: string, value: unknown): Record<string, unknown> {
  if (state === undefined || state === null) return { [key]: value }
  if (!isRecord(state))
    throw toolError('The shared state is not an object, so nothing can be kept in it by name.')
  return { ...state, [key]: value }
}
