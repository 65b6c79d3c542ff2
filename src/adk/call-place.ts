import type { Message, ToolCall } from '@ag-ui/core'
import { isRecord } from '../core/is-record.js'
import type { AgentEvent } from '../protocol/index.js'

/**
 * Where in the tree a call was made. It is noted on the call, as metadata, and so kept with the thread: a session that
 * is made again from the thread has no other way to know it.
 */
export interface CallPlace {
  /** The run that made it. */
  readonly runId: string
  readonly author: string
  /** How often the loops had gone round that were not done. */
  readonly iterations: Readonly<Record<string, number>>
}

const key = 'adk'

/** The event, with the place if it begins a call. */
export function withPlace(event: AgentEvent, { iterations, ...place }: CallPlace): AgentEvent {
  if (event.type !== 'TOOL_CALL_START') return event
  const rounds = Object.keys(iterations).length > 0 ? { iterations: { ...iterations } } : {}
  return { ...event, metadata: { ...event.metadata, [key]: { ...place, ...rounds } } }
}

/** The run that made a call, if that is noted. */
export function runOf(call: ToolCall): string | undefined {
  return placeOf(call)?.runId
}

/** The messages, those of calls with the name of the agent that made them. */
export function namedMessages(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) => {
    if (message.role !== 'assistant' || message.name !== undefined) return message
    const name = message.toolCalls?.map(placeOf).find((place) => place !== undefined)?.author
    return name === undefined ? message : { ...message, name }
  })
}

/** The rounds that loops were in when these calls were made. */
export function iterationsAt(
  messages: readonly Message[],
  callIds: ReadonlySet<string | undefined>,
): CallPlace['iterations'] {
  const calls = messages.flatMap((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []).filter(({ id }) => callIds.has(id)) : [],
  )
  return Object.assign({}, ...calls.map((call) => placeOf(call)?.iterations ?? {})) as CallPlace['iterations']
}

function placeOf({ metadata }: { readonly metadata?: unknown }): CallPlace | undefined {
  const place: unknown = isRecord(metadata) ? metadata[key] : undefined
  if (!isRecord(place)) return undefined
  const { runId, author } = place
  if (typeof runId !== 'string' || typeof author !== 'string') return undefined
  const rounds = isRecord(place.iterations) ? Object.entries(place.iterations) : []
  const counted = rounds.filter((entry): entry is [string, number] => Number.isInteger(entry[1]))
  return { runId, author, iterations: Object.fromEntries(counted) }
}
