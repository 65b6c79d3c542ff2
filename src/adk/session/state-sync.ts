import { isEqual } from '../../core/is-equal.js'
import { isRecord } from '../../core/is-record.js'
import { isShared } from './session-keys.js'

interface DeltaOptions {
  /** Whether the thread meets this session for the first time. Keys that only the session has stay then. */
  readonly isNew: boolean
}

/**
 * What to write into a session so that its state is the thread's: changed keys, and null for those that are gone. Keys
 * of an app, of a user or of a run are never written. A state that is no object says nothing about keys: the session
 * keeps its own.
 */
export function deltaToSession(
  threadState: unknown,
  sessionState: Readonly<Record<string, unknown>>,
  { isNew }: DeltaOptions,
): Record<string, unknown> {
  if (!isRecord(threadState)) return {}
  const delta: [string, unknown][] = []
  for (const [key, value] of Object.entries(threadState)) {
    if (isShared(key) && !isEqual(value ?? null, ownOf(sessionState, key) ?? null)) delta.push([key, value])
  }
  if (!isNew) {
    for (const [key, value] of Object.entries(sessionState)) {
      if (isShared(key) && isPresent(value) && !Object.hasOwn(threadState, key)) delta.push([key, null])
    }
  }
  return Object.fromEntries(delta)
}

/**
 * The state of the thread after a change in the session. Null and undefined remove a key. The same object when nothing
 * changes. A state that is neither an object nor empty is the client's own, and stays as it is.
 */
export function applyDelta(threadState: unknown, delta: Readonly<Record<string, unknown>>): unknown {
  const before = threadState ?? {}
  if (!isRecord(before)) return threadState
  const next = new Map(Object.entries(before))
  let isChanged = false
  for (const [key, value] of Object.entries(delta)) {
    if (!isShared(key)) continue
    if (!isPresent(value)) isChanged = next.delete(key) || isChanged
    else if (!isEqual(ownOf(before, key), value)) {
      next.set(key, value)
      isChanged = true
    }
  }
  return isChanged ? Object.fromEntries(next) : threadState
}

function ownOf(state: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(state, key) ? state[key] : undefined
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}
