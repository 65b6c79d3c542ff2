import { assertJson } from '../../core/json.js'
import type { EventOf } from '../../protocol/index.js'

// Marks the events of `set` with their state. A copy of the event keeps the mark, one with another state does not.
const changedState = Symbol('state-change')

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
   * that is not JSON. The run stream computes the difference when it writes the event.
   */
  set(next: unknown): EventOf<'STATE_SNAPSHOT'> {
    const value: unknown =
      typeof next === 'function' ? (next as (current: unknown) => unknown)(this.current) : next
    assertJson(value, 'state')
    this.#value = copyJson(value)
    this.#isOwn = true
    const event: EventOf<'STATE_SNAPSHOT'> = { type: 'STATE_SNAPSHOT', snapshot: this.#value }
    const marked = { ...event, [changedState]: this.#value }
    return marked
  }
}

/** Whether a snapshot is the unchanged event of `set`. */
export function isStateChange(event: EventOf<'STATE_SNAPSHOT'>): boolean {
  return changedState in event && event[changedState] === event.snapshot
}

function copyJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}
