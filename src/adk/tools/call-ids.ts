import type { Event, LlmResponse } from '@google/adk'
import type { IdSource } from '../../core/ids.js'
import type { Content, Part } from '../adk-types.js'

const ownPrefix = 'call-'

/**
 * Gives the calls of a complete answer ids that are unique in the thread and that ADK keeps in later requests. A call
 * without an id, with one that ADK made, or with one of an earlier call gets a new one.
 */
export function assignCallIds(parts: readonly Part[], newId: IdSource, events: readonly Event[]): void {
  const used = new Set<string>()
  for (const { functionCall: call } of parts) {
    if (!call) continue
    const { id } = call
    const isMissing = id === undefined || id === '' || id.startsWith('adk-')
    call.id = isMissing || used.has(id) || hasCallId(events, id) ? newCallId(newId) : id
    used.add(call.id)
  }
}

function newCallId(newId: IdSource): string {
  const id = newId('call')
  return id.startsWith(ownPrefix) ? id : ownPrefix + id
}

function hasCallId(events: readonly Event[], id: string): boolean {
  return events.some(({ content }) => content?.parts?.some(({ functionCall }) => functionCall?.id === id))
}

/** Removes the calls from a partial answer. They come again with the complete one, and ADK would run each tool twice. */
export function dropPartialCalls(response: LlmResponse): void {
  const { content } = response
  const parts = content?.parts?.filter(({ functionCall }) => !functionCall)
  if (!content || !parts) return
  if (parts.length > 0) response.content = { ...content, parts }
  else delete response.content
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
