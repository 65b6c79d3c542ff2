import type { Event } from '@google/adk'
import type { IdSource } from '../../core/ids.js'
import type { Content, FunctionCall, Part } from '../adk-types.js'

const ownPrefix = 'call-'

interface CallIdOptions {
  readonly newId: IdSource
  /** The events of the session. */
  readonly events: readonly Event[]
  /** The id under which a call was shown while it was written. */
  readonly shownAs: (call: FunctionCall) => string | undefined
}

/**
 * Gives the calls of a complete answer ids that are unique in the thread and that ADK keeps in later requests. A call
 * without an id, with one that ADK made, or with one of an earlier call gets a new one.
 */
export function assignCallIds(parts: readonly Part[], { newId, events, shownAs }: CallIdOptions): void {
  const used = new Set<string>()
  for (const { functionCall: call } of parts) {
    if (!call) continue
    const id = shownAs(call) ?? callIdFor(call, newId, events)
    call.id = used.has(id) ? newCallId(newId) : id
    used.add(call.id)
  }
}

/** The call's own id if it can stay, or a new one. */
export function callIdFor({ id }: FunctionCall, newId: IdSource, events: readonly Event[]): string {
  const isMissing = id === undefined || id === '' || id.startsWith('adk-')
  return isMissing || hasCallId(events, id) ? newCallId(newId) : id
}

function newCallId(newId: IdSource): string {
  const id = newId('call')
  return id.startsWith(ownPrefix) ? id : ownPrefix + id
}

function hasCallId(events: readonly Event[], id: string): boolean {
  return events.some(({ content }) => content?.parts?.some(({ functionCall }) => functionCall?.id === id))
}

/** Removes the ids that we assigned: Gemini matches calls by position, and knows only ids of its own. */
export function withoutOwnCallIds(contents: readonly Content[]): Content[] {
  return contents.map((content) =>
    content.parts?.some(hasOwnId) ? { ...content, parts: content.parts.map(withoutOwnId) } : content,
  )
}

function hasOwnId({ functionCall, functionResponse }: Part): boolean {
  return isOwnId(functionCall?.id) || isOwnId(functionResponse?.id)
}

function withoutOwnId(part: Part): Part {
  if (!hasOwnId(part)) return part
  const { functionCall, functionResponse } = part
  return {
    ...part,
    ...(functionCall && { functionCall: withoutId(functionCall) }),
    ...(functionResponse && { functionResponse: withoutId(functionResponse) }),
  }
}

function withoutId<T extends { id?: string }>({ id: _, ...rest }: T): Omit<T, 'id'> {
  return rest
}

function isOwnId(id: string | undefined): boolean {
  return id?.startsWith(ownPrefix) ?? false
}
