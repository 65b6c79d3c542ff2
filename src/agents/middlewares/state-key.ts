import { isRecord } from '../../core/is-record.js'
import { toolError } from './tool-error.js'

/** What is under a key of the shared state, which may be anything. */
export function readStateKey(state: unknown, key: string): unknown {
  return isRecord(state) && Object.hasOwn(state, key) ? state[key] : undefined
}

/** The state with one member replaced. Throws TOOL_ERROR when it is something that has no members. */
export function withStateKey(state: unknown, key: string, value: unknown): Record<string, unknown> {
  if (state === undefined || state === null) return { [key]: value }
  if (!isRecord(state))
    throw toolError('The shared state is not an object, so nothing can be kept in it by name.')
  return { ...state, [key]: value }
}
