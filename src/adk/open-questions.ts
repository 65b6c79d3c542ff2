import { getUserInputRequests, type Event } from '@google/adk'
import { toInterrupts, type AdkInterrupt } from './interrupts/to-interrupts.js'
import { markOf } from './mark.js'
import { isQuestion, isSent, partsOf } from './session/event-facts.js'
import { liveEvents, nodeInputs } from './session/turns.js'

/** What a session waits for. */
export interface OpenEnds {
  /** Questions that nobody has answered, with the ids that clients know them by. */
  readonly questions: readonly AdkInterrupt[]
  /** Calls whose results clients are to give. */
  readonly callIds: readonly string[]
}

/** Finds what is open in a session: in its last turn, since nobody waits for an answer when the user has gone on. */
export function openEnds(events: readonly Event[]): OpenEnds {
  const live = liveEvents(events)
  const inputs = nodeInputs(live)
  const start = live.findLastIndex(
    (event) => event.author === 'user' && !inputs.has(event) && partsOf(event).some(isSent),
  )
  const turn = live.slice(start + 1)
  const answered = new Set(
    turn.flatMap(partsOf).flatMap(({ functionResponse }) => functionResponse?.id ?? []),
  )
  return {
    questions: turn.flatMap((event) => questionsIn(event, answered)),
    callIds: turn.flatMap(waitingCalls).filter((id) => !answered.has(id)),
  }
}

function questionsIn(event: Event, answered: ReadonlySet<string>): readonly AdkInterrupt[] {
  const requests = getUserInputRequests(event).filter(({ interruptId }) => !answered.has(interruptId))
  const runId = markOf(event).runId ?? event.invocationId
  return toInterrupts(
    requests.map((request) => ({ request, event, subagentRunId: undefined })),
    runId,
  )
}

function waitingCalls(event: Event): string[] {
  const { longRunningToolIds = [] } = event
  return partsOf(event).flatMap(({ functionCall }) =>
    functionCall?.id !== undefined &&
    !isQuestion(functionCall) &&
    longRunningToolIds.includes(functionCall.id)
      ? [functionCall.id]
      : [],
  )
}
