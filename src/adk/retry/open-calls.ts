import type { Event } from '@google/adk'

/** Which calls of a run have begun without a stored result. */
export interface OpenCalls {
  readonly size: number
  /** Takes an event that was stored. */
  note(event: Event): void
}

/**
 * Looks for calls that may have been carried out although nobody can know what came of them: to run again would be to
 * carry them out twice. Calls that wait, for a person or for work that takes long, are not among them.
 */
export function createOpenCalls(): OpenCalls {
  const open = new Set<string>()
  return {
    get size() {
      return open.size
    },
    note({ content, longRunningToolIds = [], actions, partial }) {
      if (partial === true) return
      for (const { functionCall, functionResponse } of content?.parts ?? []) {
        if (functionCall?.id !== undefined) open.add(functionCall.id)
        if (functionResponse?.id !== undefined) open.delete(functionResponse.id)
      }
      for (const id of longRunningToolIds) open.delete(id)
      for (const id of Object.keys(actions.requestedToolConfirmations)) open.delete(id)
    },
  }
}
