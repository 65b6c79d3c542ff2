import { State, type Session } from '@google/adk'
import { isEqual, isRecord } from '../../core/json.js'
import { toJson } from '../../core/to-json.js'
import { isRunStateKey, isThreadStateKey } from '../../protocol/index.js'

type StateValues = Readonly<Record<string, unknown>>

/** The key under which a session with a generated id says which thread it belongs to. */
export const threadIdKey = 'millrace_thread_id'

/** Whether a key of a session's state belongs to the thread. Clients see these keys and no others. */
export function isSharedKey(key: string): boolean {
  return key !== threadIdKey && isThreadStateKey(key)
}

/** The part of a session's state that clients see, as JSON. */
export function sharedSessionState({ state }: Pick<Session, 'state'>): Record<string, unknown> {
  const shared = Object.entries(state).filter(([key]) => isSharedKey(key))
  const plain = shared.map(([key, value]) => [key, ifJson(value)] as const)
  return Object.fromEntries(plain.filter(([, value]) => isPresent(value)))
}

/**
 * The changes that make a session's state the thread's: changed keys, and null for removed ones. Never touches keys of
 * the app, the user or the run. A thread state that is no object changes nothing. `isNew`: the thread meets this session
 * for the first time; keys that only the session has stay.
 */
export function toSessionDelta(
  threadState: unknown,
  sessionState: StateValues,
  { isNew }: { readonly isNew: boolean },
): Record<string, unknown> {
  if (!isRecord(threadState)) return {}
  const delta: [string, unknown][] = []
  // A value that is not JSON stays in the session until the thread has another one.
  const known = sharedSessionState({ state: sessionState })
  for (const [key, value] of Object.entries(threadState)) {
    if (isSharedKey(key) && !isEqual(value ?? null, ownValue(known, key) ?? null)) delta.push([key, value])
  }
  if (!isNew) {
    for (const key of Object.keys(known)) if (!Object.hasOwn(threadState, key)) delta.push([key, null])
  }
  return Object.fromEntries(delta)
}

/**
 * The thread's state after a change in the session. Null and undefined remove a key. Returns the same object when nothing
 * changes, and a state that is neither an object nor empty as it is: it is the client's own. Throws ENCODING_ERROR, with the path,
 * for a value that cannot be JSON.
 */
export function applySessionDelta(threadState: unknown, delta: StateValues): unknown {
  const before = threadState ?? {}
  if (!isRecord(before)) return threadState
  const next = new Map(Object.entries(before))
  let isChanged = false
  for (const [key, given] of Object.entries(delta)) {
    if (!isSharedKey(key)) continue
    const value = isPresent(given) ? toJson(given, `state.${key}`) : given
    if (!isPresent(value)) isChanged = next.delete(key) || isChanged
    else if (!isEqual(ownValue(before, key), value)) {
      next.set(key, value)
      isChanged = true
    }
  }
  return isChanged ? Object.fromEntries(next) : threadState
}

/** The state that a run works on: a copy that shares nothing with other sessions, and the run's `temp:` values. */
export function toRunState(stored: StateValues, temp: StateValues): Record<string, unknown> {
  const prefix = State.TEMP_PREFIX
  const copied = Object.entries(stored).map(([key, value]) => [key, isCopied(key) ? tryClone(value) : value])
  const own = Object.entries(temp).map(([key, value]) => [isRunStateKey(key) ? key : prefix + key, value])
  return Object.fromEntries([...copied, ...own]) as Record<string, unknown>
}

// In memory, all sessions share the same values of apps and users.
function isCopied(key: string): boolean {
  return !isThreadStateKey(key) && !isRunStateKey(key)
}

function tryClone(value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    // No store could keep such a value: it is shared on purpose.
    return value
  }
}

/** The value as JSON. Undefined if it cannot be: then it stays in the session. */
function ifJson(value: unknown): unknown {
  try {
    return isPresent(value) ? toJson(value, 'state') : value
  } catch {
    return undefined
  }
}

function ownValue(state: StateValues, key: string): unknown {
  return Object.hasOwn(state, key) ? state[key] : undefined
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}
