import jsonpatch from 'fast-json-patch'
import type { AgentEvent } from '../protocol/index.js'

/** The state a run shares with its client. */
export interface SharedState {
  readonly current: unknown
  /** Replaces it, by value or by a function of the current one. Gives the event that tells the client. */
  set(next: unknown): AgentEvent | undefined
}

/** Deltas are the difference between two states, taken when one is set: never per token. */
export function createSharedState(initial: unknown): SharedState {
  let current = initial
  return {
    get current() {
      return current
    },
    set(next) {
      const value: unknown =
        typeof next === 'function' ? (next as (current: unknown) => unknown)(current) : next
      const before = current
      // As the client will have it: without what JSON drops, and not changed by whoever holds the original.
      current = structuredJson(value)
      if (!isContainer(before) || !isContainer(current) || Array.isArray(before) !== Array.isArray(current)) {
        return Object.is(before, current) ? undefined : { type: 'STATE_SNAPSHOT', snapshot: current }
      }
      const delta = jsonpatch.compare(before, current)
      // The library's operations are those of RFC 6902; only its type has a private one more.
      return delta.length === 0 ? undefined : ({ type: 'STATE_DELTA', delta } as AgentEvent)
    },
  }
}

function structuredJson(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined
  return text === undefined ? null : JSON.parse(text)
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
