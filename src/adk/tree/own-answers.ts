import type { Event } from '@google/adk'
import type { Part } from '../adk-types.js'
import { isRequestName } from '../ask/function-names.js'

/**
 * The events without results at their end that are not for this agent. ADK throws when the last thing an agent sees is
 * a result without its call: that of another lane, or of the agent before it.
 */
export function withOwnAnswers(events: readonly Event[], agentName: string): readonly Event[] {
  const start = startOfAnswers(events, agentName)
  const newest = events.slice(start)
  if (!newest.some((event) => results(event).length > 0)) return events
  const own = callsOf(events, agentName)
  return [...events.slice(0, start), ...newest.flatMap((event) => withOnly(own, event))]
}

/** After the last word of this agent, and after the last that the user said. */
function startOfAnswers(events: readonly Event[], agentName: string): number {
  const before = events.findLastIndex(
    (event) => event.author === agentName || (event.author === 'user' && !hasResponses(event)),
  )
  return before + 1
}

function withOnly(own: ReadonlySet<string>, event: Event): readonly Event[] {
  const foreign = new Set(results(event).filter((part) => !own.has(part.functionResponse?.id ?? '')))
  if (foreign.size === 0) return [event]
  const parts = event.content?.parts?.filter((part) => !foreign.has(part)) ?? []
  return parts.length === 0 ? [] : [{ ...event, content: { ...event.content, parts } }]
}

/** The results a user's event brings. */
function results({ author, content }: Event): readonly Part[] {
  if (author !== 'user') return []
  return (content?.parts ?? []).filter(
    ({ functionResponse }) => functionResponse && !isRequestName(functionResponse.name),
  )
}

function hasResponses({ content }: Event): boolean {
  return content?.parts?.some(({ functionResponse }) => functionResponse) ?? false
}

function callsOf(events: readonly Event[], agentName: string): ReadonlySet<string> {
  const parts = events
    .filter(({ author }) => author === agentName)
    .flatMap(({ content }) => content?.parts ?? [])
  return new Set(parts.flatMap(({ functionCall }) => functionCall?.id ?? []))
}
