import { State } from '@google/adk'

type Values = Readonly<Record<string, unknown>>

/** The state that a run works on: a copy that shares nothing with other sessions, and the values of the run. */
export function viewState(stored: Values, temp: Values): Record<string, unknown> {
  return { ...ownState(stored), ...tempState(temp) }
}

// Values of apps and users come as they are kept in memory, shared by all sessions.
function ownState(state: Values): Record<string, unknown> {
  const isScoped = (key: string): boolean =>
    key.startsWith(State.APP_PREFIX) || key.startsWith(State.USER_PREFIX)
  return Object.fromEntries(
    Object.entries(state).map(([key, value]) => [key, isScoped(key) ? copyOf(value) : value]),
  )
}

function copyOf(value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    // Nothing that could be stored elsewhere; as good as shared on purpose.
    return value
  }
}

function tempState(temp: Values): Record<string, unknown> {
  const prefix = State.TEMP_PREFIX
  return Object.fromEntries(
    Object.entries(temp).map(([key, value]) => [key.startsWith(prefix) ? key : prefix + key, value]),
  )
}
