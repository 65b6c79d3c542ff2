import type { Event } from '@google/adk'
import { isRecord } from '../../core/json.js'
import { isReported } from '../../protocol/index.js'
import type { Message, ToolCall } from '@ag-ui/core'
import type { AgentEvent } from '../../protocol/index.js'

/** Metadata on an event of a session that relates it to the thread. JSON. */
export interface EventMark {
  /** The run that wrote the event. */
  readonly runId?: string
  /** The user messages in an event of the user, or the messages that the text of an agent's event became. */
  readonly messageIds?: readonly string[]
  /** Number of content parts of each of these user messages. Later parts belong to no message. */
  readonly partCounts?: readonly number[]
  /** Calls whose results came too late to be function responses. The event of the user has them as text. */
  readonly lateCallIds?: readonly string[]
  /** The message with the calls of the event. */
  readonly callsIn?: string
  /** The tool messages of the results in the event, by call id. */
  readonly resultIds?: Readonly<Record<string, string>>
  /** The message that the thoughts of the event became. */
  readonly reasoningIds?: readonly string[]
  /** Completed rounds of the loops that are not done, on an event with a pending call or request. */
  readonly iterations?: Readonly<Record<string, number>>
  /** On an event that brings a new message of the user. */
  readonly anchor?: Anchor
  /** Made of messages that the thread had and the session did not. */
  readonly imported?: boolean
  /** Ids of earlier events that an edit has removed from the conversation. */
  readonly cut?: readonly string[]
}

/** What a later run has to know of all before an event, so that it need not read it again. */
export interface Anchor {
  /** The position of the event's first message in the thread. */
  readonly position: number
  /** The number of stored events before it. */
  readonly events: number
  /** Stored events before it that are no part of the conversation. */
  readonly left?: readonly EventRange[]
  /** Whether no stored event before it has a call or a result. */
  readonly isPlain: boolean
  /** Positions of system and developer messages before it. */
  readonly instructions?: readonly number[]
}

/** Positions of stored events, the second one not included. */
export type EventRange = readonly [from: number, to: number]

const eventKey = 'millrace'

/** The mark on an event; empty on events of other writers. */
export function eventMark({ customMetadata }: Pick<Event, 'customMetadata'>): EventMark {
  const mark: unknown = customMetadata?.[eventKey]
  return isRecord(mark) ? mark : {}
}

/** Metadata with a mark, and with what else is in `customMetadata`. */
export function withEventMark(
  mark: EventMark,
  customMetadata: Event['customMetadata'] = {},
): Record<string, unknown> {
  return { ...customMetadata, [eventKey]: { ...eventMark({ customMetadata }), ...mark } }
}

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

const callKey = 'adk'

/** Adds the origin to an event that begins a call. */
export function withCallOrigin(event: AgentEvent, { iterations, ...origin }: CallOrigin): AgentEvent {
  if (event.type !== 'TOOL_CALL_START') return event
  const rounds = Object.keys(iterations).length > 0 ? { iterations: { ...iterations } } : {}
  return { ...event, metadata: { ...event.metadata, [callKey]: { ...origin, ...rounds } } }
}

/** The run that made a call, if it is known. */
export function callRunId(call: ToolCall): string | undefined {
  return callOrigin(call)?.runId
}

/**
 * Gives messages with calls the name of the agent that made them. What a client reports goes to the agent that wrote last:
 * it has shown what the user clicked on.
 */
export function withCallAuthors(messages: readonly Message[]): readonly Message[] {
  let writer: string | undefined
  return messages.map((message) => {
    if (message.role !== 'assistant') return message
    const maker = message.toolCalls?.map(callOrigin).find((origin) => origin !== undefined)?.author
    const name = message.name ?? (isReported(message) ? writer : maker)
    writer = name
    return name === message.name || name === undefined ? message : { ...message, name }
  })
}

/** Completed rounds of the loops when these calls were made. */
export function iterationsAtCalls(
  messages: readonly Message[],
  callIds: ReadonlySet<string | undefined>,
): CallOrigin['iterations'] {
  const found: CallOrigin['iterations'][] = []
  // From the end: answered calls are recent ones.
  for (let index = messages.length - 1; index >= 0 && found.length < callIds.size; index--) {
    const message = messages[index]
    const calls = message?.role === 'assistant' ? (message.toolCalls ?? []) : []
    const answered = calls.filter(({ id }) => callIds.has(id))
    found.push(...answered.map((call) => callOrigin(call)?.iterations ?? {}))
  }
  return Object.assign({}, ...found.reverse()) as Record<string, number>
}

function callOrigin({ metadata }: { readonly metadata?: unknown }): CallOrigin | undefined {
  const origin: unknown = isRecord(metadata) ? metadata[callKey] : undefined
  if (!isRecord(origin)) return undefined
  const { runId, author } = origin
  if (typeof runId !== 'string' || typeof author !== 'string') return undefined
  const rounds = isRecord(origin.iterations) ? Object.entries(origin.iterations) : []
  const counted = rounds.filter((entry): entry is [string, number] => Number.isInteger(entry[1]))
  return { runId, author, iterations: Object.fromEntries(counted) }
}
