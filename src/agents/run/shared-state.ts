import jsonpatch from 'fast-json-patch'
import { assertJson } from '../../core/json.js'
import type { AgentEvent, EventOf } from '../../protocol/index.js'

// Marks the events of `set` with the state they stand for. A copy of the event keeps the mark, one with another state does not.
const change = Symbol('state-change')

/** The state a run shares with its client. Works on a copy, made when it is first read: the caller's object stays as it is. */
export class SharedState {
  #value: unknown
  #isOwn = false

  constructor(initial: unknown) {
    this.#value = initial
  }

  get current(): unknown {
    if (!this.#isOwn) this.#value = copyJson(this.#value)
    this.#isOwn = true
    return this.#value
  }

  /**
   * Replaces the state, by value or by a function of the current one. Throws ENCODING_ERROR, with the path, for a value
   * that is not JSON. The event says that there is a change; the difference is computed when it is written.
   */
  set(next: unknown): AgentEvent {
    const value: unknown =
      typeof next === 'function' ? (next as (current: unknown) => unknown)(this.current) : next
    assertJson(value, 'state')
    this.#value = copyJson(value)
    this.#isOwn = true
    const event: EventOf<'STATE_SNAPSHOT'> = { type: 'STATE_SNAPSHOT', snapshot: this.#value }
    const marked = { ...event, [change]: this.#value }
    return marked
  }
}

export function isStateChange(event: AgentEvent): event is EventOf<'STATE_SNAPSHOT'> {
  return event.type === 'STATE_SNAPSHOT' && change in event && event[change] === event.snapshot
}

/**
 * The smallest event that brings a client to the current state. Computed when it is written, so that changes of parallel
 * tools cannot overtake each other. Undefined when there is no difference.
 */
export function stateDifference(held: unknown, current: unknown): AgentEvent | undefined {
  if (!isContainer(held) || !isContainer(current) || Array.isArray(held) !== Array.isArray(current)) {
    return Object.is(held, current) ? undefined : { type: 'STATE_SNAPSHOT', snapshot: current }
  }
  const delta = jsonpatch.compare(held, current)
  // The library's operations are those of RFC 6902; only its type has a private one more.
  return delta.length === 0 ? undefined : ({ type: 'STATE_DELTA', delta } as AgentEvent)
}

function copyJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
