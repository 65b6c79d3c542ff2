import type { Message, ToolCall } from '@ag-ui/core'
import { isRecord } from '../../core/json.js'
import type { AgentEvent } from '../../protocol/index.js'

/**
 * Which run and which agent made a tool call. Stored on the call as metadata, so with the thread: a session that is made
 * again from the thread cannot know it otherwise.
 */
export interface CallOrigin {
  readonly runId: string
  readonly author: string
  /** Completed rounds of the loops that were not done. */
  readonly iterations: Readonly<Record<string, number>>
}

const key = 'adk'

/** Adds the origin to an event that begins a call. */
export function withCallOrigin(event: AgentEvent, { iterations, ...origin }: CallOrigin): AgentEvent {
  if (event.type !== 'TOOL_CALL_START') return event
  const rounds = Object.keys(iterations).length > 0 ? { iterations: { ...iterations } } : {}
  return { ...event, metadata: { ...event.metadata, [key]: { ...origin, ...rounds } } }
}

/** The run that made a call, if it is known. */
export function callRunId(call: ToolCall): string | undefined {
  return callOrigin(call)?.runId
}

/** Gives messages with calls the name of the agent that made them. */
export function withCallAuthors(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) => {
    if (message.role !== 'assistant' || message.name !== undefined) return message
    const name = message.toolCalls?.map(callOrigin).find((origin) => origin !== undefined)?.author
    return name === undefined ? message : { ...message, name }
  })
}

/** Completed rounds of the loops when these calls were made. */
export function iterationsAtCalls(
  messages: readonly Message[],
  callIds: ReadonlySet<string | undefined>,
): CallOrigin['iterations'] {
  const calls = messages.flatMap((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []).filter(({ id }) => callIds.has(id)) : [],
  )
  return Object.assign({}, ...calls.map((call) => callOrigin(call)?.iterations ?? {})) as Record<
    string,
    number
  >
}

function callOrigin({ metadata }: { readonly metadata?: unknown }): CallOrigin | undefined {
  const origin: unknown = isRecord(metadata) ? metadata[key] : undefined
  if (!isRecord(origin)) return undefined
  const { runId, author } = origin
  if (typeof runId !== 'string' || typeof author !== 'string') return undefined
  const rounds = isRecord(origin.iterations) ? Object.entries(origin.iterations) : []
  const counted = rounds.filter((entry): entry is [string, number] => Number.isInteger(entry[1]))
  return { runId, author, iterations: Object.fromEntries(counted) }
}
