import { getUserInputRequests, type Event } from '@google/adk'
import { questionsOf, type Question } from './ask/questions.js'
import { markOf } from './mark.js'
import { liveEvents } from './session/turns.js'

/** The questions of a session that nobody has answered, with the ids that clients know them by. */
export function openQuestions(events: readonly Event[]): readonly Question[] {
  const live = liveEvents(events)
  const answered = new Set(
    live.flatMap(
      ({ content }) => content?.parts?.flatMap(({ functionResponse }) => functionResponse?.id ?? []) ?? [],
    ),
  )
  return live.flatMap((event) => {
    const requests = getUserInputRequests(event).filter(({ interruptId }) => !answered.has(interruptId))
    const runId = markOf(event).runId ?? event.invocationId
    return questionsOf(
      requests.map((request) => ({ request, event, subagentRunId: undefined })),
      { runId },
    )
  })
}
