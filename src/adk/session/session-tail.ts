import type { Message } from '@ag-ui/core'
import type { Event } from '@google/adk'
import type { Part } from '../adk-types.js'
import { eventMark, type Anchor, type EventRange } from './marks.js'
import { eventFacts, eventParts, hasCallParts, isSilent } from './session-events.js'

/** The ends of a session and of its thread. What stands before them is known to agree. */
export interface SessionTail {
  /** Stored events before it that are part of the conversation. A new list. */
  readonly before: Event[]
  readonly events: readonly Event[]
  readonly messages: readonly Message[]
  /** The position of its first message in the thread. */
  readonly start: number
  /** The number of stored events, with those before it. */
  readonly end: number
  /** The anchor that it begins with. */
  readonly anchor: Anchor | undefined
}

interface TailInput {
  readonly events: readonly Event[]
  readonly messages: readonly Message[]
  readonly answers: readonly Part[]
  readonly saved: readonly Event[]
}

/** After this many anchors that do not serve, all is compared. */
const maxAttempts = 8

/**
 * Finds the tail that begins with the last anchor: the event of a user's message where both stand where they stood. Edits
 * cut the end of a thread, late results shift it: a message in its old place proves that all before it is the same. The
 * tail is everything when there is no anchor, or when something after it concerns events before it.
 */
export function findTail(input: TailInput): SessionTail {
  const { events, messages } = input
  let attempts = 0
  for (let index = events.length - 1; index > 0 && attempts < maxAttempts; index--) {
    const event = events[index]
    const { anchor, messageIds = [] } = event ? eventMark(event) : {}
    if (!anchor) continue
    attempts++
    const isInPlace = anchor.events === index && messages[anchor.position]?.id === messageIds[0]
    if (!isInPlace || messageIds.length === 0) continue
    const tail = { events: events.slice(index), messages: messages.slice(anchor.position) }
    if (!isSelfContained({ ...input, ...tail })) continue
    const before = eventsBefore(events, index, anchor)
    return { ...tail, before, start: anchor.position, end: events.length, anchor }
  }
  return { before: [], events, messages, start: 0, end: events.length, anchor: undefined }
}

function eventsBefore(events: readonly Event[], end: number, { left = [] }: Anchor): Event[] {
  const starts = [0, ...left.map(([, to]) => to)]
  const ends = [...left.map(([from]) => from), end]
  // Whole pieces: the events themselves are not looked at.
  const [first = [], ...rest] = starts.map((from, index) => events.slice(from, ends[index]))
  return rest.length === 0 ? first : first.concat(...rest)
}

/** Adds positions to ranges that stand before them all. */
function withPositions(ranges: readonly EventRange[], positions: readonly number[]): readonly EventRange[] {
  const all = [...ranges]
  for (const position of positions) {
    const last = all.at(-1)
    if (last?.[1] === position) all[all.length - 1] = [last[0], position + 1]
    else all.push([position, position + 1])
  }
  return all
}

/** Whether a tail names no event before it, and has none of other writers: what clients know of those, all events tell. */
function isSelfContained({ events, messages, answers, saved }: TailInput): boolean {
  const ids = new Set(events.map(({ id }) => id))
  const known = new Set<string>()
  const needed = new Set<string>()
  for (const event of events) {
    const { isMarked, userIds, textIds, calls } = eventFacts(event)
    if (!isMarked && userIds.length + textIds.length + calls.length > 0) return false
    const { cut = [], lateCallIds = [] } = eventMark(event)
    if (cut.some((id) => !ids.has(id))) return false
    for (const id of lateCallIds) known.add(id)
    for (const { functionCall, functionResponse } of eventParts(event)) {
      if (functionCall?.id !== undefined) known.add(functionCall.id)
      if (functionResponse?.id !== undefined) needed.add(functionResponse.id)
    }
  }
  for (const message of messages) {
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) known.add(id)
    if (message.role === 'tool') needed.add(message.toolCallId)
  }
  for (const { functionResponse } of answers)
    if (functionResponse?.id !== undefined) needed.add(functionResponse.id)
  for (const { functionCall } of saved.flatMap(eventParts))
    if (functionCall?.id !== undefined) needed.add(functionCall.id)
  return [...needed].every((id) => known.has(id))
}

/** More would make the events of a session that is often edited large. All is compared then. */
const maxRanges = 100

interface AnchoredPlan {
  /** The position of the first new message in the tail. */
  readonly position: number
  /** Ids of events of the tail that leave the conversation now. */
  readonly cut: readonly string[]
  /** The event that will say so, and those that will be stored after it. */
  readonly note: Event | undefined
  readonly imported: readonly Event[]
}

/** The anchor for the event that brings a new message of the user. Undefined when it cannot tell what is before it. */
export function nextAnchor(tail: SessionTail, planned: AnchoredPlan): Anchor | undefined {
  const { position, cut, note, imported } = planned
  const first = tail.end - tail.events.length
  const gone = new Set([...cut, ...tail.events.flatMap((event) => eventMark(event).cut ?? [])])
  const positions = tail.events.flatMap((event, index) =>
    gone.has(event.id) || isSilent(event) ? [first + index] : [],
  )
  const left = withPositions(tail.anchor?.left ?? [], note ? [...positions, tail.end] : positions)
  if (left.length > maxRanges) return undefined
  const instructions = [...(tail.anchor?.instructions ?? []), ...instructionPositions(tail, position)]
  const isPlain = tail.anchor?.isPlain !== false && ![...tail.events, ...imported].some(hasCallParts)
  return {
    position: tail.start + position,
    events: tail.end + (note ? 1 : 0) + imported.length,
    ...(left.length > 0 ? { left } : {}),
    isPlain,
    ...(instructions.length > 0 ? { instructions } : {}),
  }
}

/** The texts of the system and developer messages of a thread. */
export function instructionTexts(messages: readonly Message[], tail: SessionTail): string[] {
  const positions = [
    ...(tail.anchor?.instructions ?? []),
    ...instructionPositions(tail, tail.messages.length),
  ]
  return positions.flatMap((position) => {
    const content = messages[position]?.content
    return typeof content === 'string' ? [content] : []
  })
}

function instructionPositions({ messages, start }: SessionTail, end: number): number[] {
  return messages
    .slice(0, end)
    .flatMap(({ role }, index) => (role === 'system' || role === 'developer' ? [start + index] : []))
}
