import type { AgentEvent } from '../protocol/index.js'

const nothing: readonly AgentEvent[] = Object.freeze([])

/** Collects the AG-UI events that a translator makes of one native event. */
export class EventSink {
  #events: AgentEvent[] | undefined

  add(event: AgentEvent): void {
    if (this.#events) this.#events.push(event)
    else this.#events = [event]
  }

  /** Returns the events added since the last call. */
  take(): readonly AgentEvent[] {
    const taken = this.#events ?? nothing
    this.#events = undefined
    return taken
  }
}
