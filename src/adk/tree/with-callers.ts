import type { Event } from '@google/adk'
import type { Part } from '../adk-types.js'
import { isRequestName } from '../ask/function-names.js'

/**
 * The events with the results that a client gave as those of the agents that had called: as if tools of theirs had
 * returned them. ADK would take them for words of the user. A node of a workflow, which sees only what came after those,
 * would forget what it has done before; and other agents would see results of calls that they know nothing of.
 */
export function withCallers(events: readonly Event[]): readonly Event[] {
  const callers = new Map<string, Event>()
  return events.flatMap((event) => {
    const parts = event.content?.parts ?? []
    for (const { functionCall } of parts)
      if (functionCall?.id !== undefined) callers.set(functionCall.id, event)
    if (event.author !== 'user') return [event]
    const callerOf = ({ functionResponse }: Part): Event | undefined =>
      functionResponse && !isRequestName(functionResponse.name)
        ? callers.get(functionResponse.id ?? '')
        : undefined
    const found = new Set(parts.flatMap((part) => callerOf(part) ?? []))
    if (found.size === 0) return [event]
    const rest = parts.filter((part) => !callerOf(part))
    return [
      ...Array.from(found, (caller) =>
        result(
          event,
          caller,
          parts.filter((part) => callerOf(part) === caller),
        ),
      ),
      ...(rest.length === 0 ? [] : [{ ...event, content: { ...event.content, parts: rest } }]),
    ]
  })
}

function result(event: Event, { author, branch }: Event, parts: Part[]): Event {
  const { author: _, branch: __, ...rest } = event
  return {
    ...rest,
    content: { role: 'user', parts },
    ...(author === undefined ? {} : { author }),
    ...(branch === undefined ? {} : { branch }),
  }
}
