import type { Event } from '@google/adk'
import { isRecord } from '../../core/json.js'

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
  /** Made of messages that the thread had and the session did not. */
  readonly imported?: boolean
  /** Ids of earlier events that an edit has removed from the conversation. */
  readonly cut?: readonly string[]
}

const key = 'millrace'

/** The mark on an event; empty on events of other writers. */
export function eventMark({ customMetadata }: Pick<Event, 'customMetadata'>): EventMark {
  const mark: unknown = customMetadata?.[key]
  return isRecord(mark) ? mark : {}
}

/** Metadata with a mark, and with what else is in `customMetadata`. */
export function withEventMark(
  mark: EventMark,
  customMetadata: Event['customMetadata'] = {},
): Record<string, unknown> {
  return { ...customMetadata, [key]: { ...eventMark({ customMetadata }), ...mark } }
}
