import { getUserInputRequests, type Event } from '@google/adk'
import type { Lane } from './lane.js'
import { isRequest } from './tool-calls.js'
import type { AskedRequest } from './translator.js'

/** ADK's questions to people, each once. */
export interface Requests {
  readonly all: readonly AskedRequest[]
  /** Takes those of an event. */
  note(lane: Lane, event: Event): void
}

export function createRequests(): Requests {
  const all: AskedRequest[] = []
  return {
    all,
    note({ scope }, event) {
      if (!event.content?.parts?.some(({ functionCall }) => isRequest(functionCall))) return
      for (const request of getUserInputRequests(event)) {
        if (all.some((asked) => asked.request.interruptId === request.interruptId)) continue
        if (scope) scope.hasAsked = true
        all.push({ request, event, subagentRunId: scope?.subagentRunId })
      }
    },
  }
}
