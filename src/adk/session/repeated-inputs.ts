import type { Event } from '@google/adk'
import { isEqual } from '../../core/is-equal.js'
import { partsOf } from './event-facts.js'
import type { SessionPlan } from './plan-session.js'

/**
 * Tells the inputs that a workflow gives once more to nodes which go on. ADK stores them as words of the user, behind
 * the results that the node waits for: a model would take them for all there is, and do its work again.
 */
export function createRepeatedInputs({ keep, add, news }: SessionPlan): (event: Event) => boolean {
  const events = [...keep, ...add]
  const given = atWork(events, news).flatMap((place) => inputBefore(events, place) ?? [])
  return (event) => {
    // A first node is given what the run is given: here, results that it has.
    if (hasResponses(event)) return isEqual(event.content, news.content)
    const known = given.findIndex(
      ({ branch, content }) => branch === event.branch && isEqual(content, event.content),
    )
    if (known === -1) return false
    given.splice(known, 1)
    return true
  }
}

/** Where the agents stand that go on: those whose calls are answered, or the one that has failed in an attempt before. */
function atWork(events: readonly Event[], { content, isDelivered }: SessionPlan['news']): number[] {
  if (isDelivered) return [events.findLastIndex(({ author }) => author !== 'user')]
  const answered = new Set(content?.parts?.flatMap(({ functionResponse }) => functionResponse?.id ?? []))
  return events.flatMap((event, place) =>
    partsOf(event).some(({ functionCall }) => answered.has(functionCall?.id ?? '')) ? [place] : [],
  )
}

function inputBefore(events: readonly Event[], place: number): Event | undefined {
  const branch = events[place]?.branch
  return events
    .slice(0, Math.max(0, place))
    .findLast((event) => event.author === 'user' && event.branch === branch && !hasResponses(event))
}

function hasResponses(event: Event): boolean {
  return partsOf(event).some(({ functionResponse }) => functionResponse)
}
