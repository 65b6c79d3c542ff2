import jsonpatch from 'fast-json-patch'
import { assertJson } from '../../core/json.js'
import type { AgentEvent, EventOf } from '../../protocol/index.js'

/** The state a run shares with its client. */
export interface SharedState {
  readonly current: unknown
  /**
   * Replaces it, by value or by a function of the current one. Throws ENCODING_ERROR, with the place, for what is not
   * JSON. The event tells the run that there is a change; what the client gets is made when it is written.
   */
  set(next: unknown): AgentEvent
}

// Marks the events of `set` with the state they stand for. A copy of an event keeps it; one with another state is no longer one.
const change = Symbol('state-change')

/** Works on a copy, made when it is first asked for: the caller's object stays as it is. */
export function createSharedState(initial: unknown): SharedState {
  return new CopiedState(initial)
}

class CopiedState implements SharedState {
  #value: unknown
  #isOwn = false

  constructor(initial: unknown) {
    this.#value = initial
  }

  get current(): unknown {
    if (!this.#isOwn) this.#value = copyOf(this.#value)
    this.#isOwn = true
    return this.#value
  }

  set(next: unknown): AgentEvent {
    const value: unknown =
      typeof next === 'function' ? (next as (current: unknown) => unknown)(this.current) : next
    assertJson(value, 'state')
    this.#value = copyOf(value)
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
 * The smallest event that brings a client from what it holds to the current state. Made when it is written, so that
 * changes of tools that run side by side cannot overtake each other. Undefined when there is no difference.
 */
export function stateDifference(held: unknown, current: unknown): AgentEvent | undefined {
  if (!isContainer(held) || !isContainer(current) || Array.isArray(held) !== Array.isArray(current)) {
    return Object.is(held, current) ? undefined : { type: 'STATE_SNAPSHOT', snapshot: current }
  }
  const delta = jsonpatch.compare(held, current)
  // The library's operations are those of RFC 6902; only its type has a private one more.
  return delta.length === 0 ? undefined : ({ type: 'STATE_DELTA', delta } as AgentEvent)
}

function copyOf(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
