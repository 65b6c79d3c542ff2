import type { Event } from '@google/adk'

/** The long-running calls of a stream of events that have no answer in it. While there is one, its maker is paused. */
export interface OpenCalls {
  readonly note: (event: Event) => void
  readonly isPaused: () => boolean
  /** Whether one of the events asked for the end of the loop. */
  readonly hasEscalated: () => boolean
}

/** Follows one stream. A long-running tool that answers at once, with a ticket for example, is no pause. */
export function createOpenCalls(): OpenCalls {
  const open = new Set<string>()
  let escalated = false
  return {
    note({ longRunningToolIds, content, actions }) {
      escalated ||= actions.escalate === true
      // Absent in events that were not made by ADK's own function.
      for (const id of (longRunningToolIds as readonly string[] | undefined) ?? []) open.add(id)
      for (const { functionResponse } of content?.parts ?? []) {
        if (functionResponse?.id !== undefined) open.delete(functionResponse.id)
      }
    },
    isPaused: () => open.size > 0,
    hasEscalated: () => escalated,
  }
}
