import type { AgentEvent } from '../../protocol/index.js'

/** Where the events go that are made of one event of the graph. */
export interface Sink {
  add(event: AgentEvent): void
  /** All that was added since the last time. */
  take(): readonly AgentEvent[]
}

const nothing: readonly AgentEvent[] = Object.freeze([])

export function createSink(): Sink {
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

/** The tag of a span's events, to be spread into them. */
export function tagged(span: string | undefined): { subagentRunId?: string } {
  return span === undefined ? {} : { subagentRunId: span }
}
