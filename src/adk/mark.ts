import type { Event } from '@google/adk'
import { isRecord } from '../core/is-record.js'

/** What is noted on an event of a session, so that it can be found again in the thread. JSON. */
export interface Mark {
  /** The run that wrote the event. */
  readonly runId?: string
  /** The user messages an event of the user brought, or the message that the text of an event became. */
  readonly messageIds?: readonly string[]
  /** How many parts of the content each of these user messages has. What comes after them is no message. */
  readonly partCounts?: readonly number[]
  /** Calls whose results came too late to be given as such. An event of the user tells of them in words. */
  readonly lateCallIds?: readonly string[]
  /** The message that the calls of an event stand in. */
  readonly callsIn?: string
  /** The messages that results in an event came with, by the id of the call. */
  readonly resultIds?: Readonly<Record<string, string>>
  /** The message that the thoughts of an event became. */
  readonly reasoningIds?: readonly string[]
  /** How often the loops of the tree had gone round that were not done, on an event that waits for somebody. */
  readonly iterations?: Readonly<Record<string, number>>
  /** Made of messages that the thread has and the session had not. */
  readonly imported?: boolean
  /** Ids of earlier events that are not part of the conversation any more: it was edited before them. */
  readonly cut?: readonly string[]
}

const key = 'millrace'

/** What is noted on an event; nothing on those of other writers. */
export function markOf({ customMetadata }: Pick<Event, 'customMetadata'>): Mark {
  const mark: unknown = customMetadata?.[key]
  return isRecord(mark) ? mark : {}
}

/** The metadata that carries a mark, with what else is in `customMetadata`. */
export function markedMetadata(
  mark: Mark,
  customMetadata?: Event['customMetadata'],
): Record<string, unknown> {
  return { ...customMetadata, [key]: { ...markOf({ customMetadata: customMetadata ?? {} }), ...mark } }
}
