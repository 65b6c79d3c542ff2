import type { JsonPatchOperation } from '@ag-ui/core'
import jsonpatch from 'fast-json-patch'
import type { EventOf } from '../contract.js'
import { isContainer } from '../../core/json-patch.js'

/** The smallest event that brings a client from one state to another. Undefined when they are equal. */
export function stateEventBetween(
  before: unknown,
  after: unknown,
): EventOf<'STATE_SNAPSHOT' | 'STATE_DELTA'> | undefined {
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) {
    return Object.is(before, after) ? undefined : { type: 'STATE_SNAPSHOT', snapshot: after }
  }
  // The library's operations are those of RFC 6902; only its type has a private one more.
  const delta = jsonpatch.compare(before, after) as JsonPatchOperation[]
  return delta.length === 0 ? undefined : { type: 'STATE_DELTA', delta }
}
