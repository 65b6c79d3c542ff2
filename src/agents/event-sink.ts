import type { AgentEvent } from '../protocol/index.js'

/** Where a translator puts the events that it makes of one event of a foreign runtime. */
export interface EventSink {
  add(event: AgentEvent): void
  /** All that was added since the last time. */
  take(): readonly AgentEvent[]
}

const nothing: readonly AgentEvent[] = Object.freeze([])

export function createEventSink(): EventSink {
  let events: AgentEvent[] | undefined
  return {
    add(event) {
      if (events) events.push(event)
      else events = [event]
    },
    take() {
      const taken = events ?? nothing
      events = undefined
      return taken
    },
  }
}
