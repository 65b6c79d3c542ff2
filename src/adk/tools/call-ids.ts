import type { Event, LlmResponse } from '@google/adk'
import type { IdSource } from '../../core/ids.js'
import type { Content, Part } from '../adk-types.js'

const prefix = 'call-'

/**
 * Gives the function calls of a complete answer ids that the thread has only once and that ADK keeps in later requests: a
 * call without an id, with one that ADK made, or with one that an earlier call has, gets a new one. Others keep theirs.
 */
export function nameCalls(parts: readonly Part[], newId: IdSource, events: readonly Event[]): void {
  const given = new Set<string>()
  for (const { functionCall: call } of parts) {
    if (!call) continue
    const { id } = call
    const isKept =
      id !== undefined && id !== '' && !id.startsWith('adk-') && !given.has(id) && !isTaken(id, events)
    call.id = isKept ? id : madeId(newId)
    given.add(call.id)
  }
}

/**
 * Takes the function calls out of an unfinished answer. They come again with the complete one, and ADK runs a tool each
 * time it meets its call.
 */
export function dropPreviews(response: LlmResponse): void {
  const { content } = response
  const parts = content?.parts?.filter(({ functionCall }) => !functionCall)
  if (!content || !parts) return
  if (parts.length > 0) response.content = { ...content, parts }
  else delete response.content
}

/** The contents without the ids that were made here: Gemini matches by position, and knows only ids of its own. */
export function withoutMadeIds(contents: readonly Content[]): Content[] {
  return contents.map((content) =>
    content.parts?.some(hasMadeId) ? { ...content, parts: content.parts.map(withoutMadeId) } : content,
  )
}

function hasMadeId({ functionCall, functionResponse }: Part): boolean {
  return isMade(functionCall?.id) || isMade(functionResponse?.id)
}

function withoutMadeId(part: Part): Part {
  if (!hasMadeId(part)) return part
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

function isMade(id: string | undefined): boolean {
  return id?.startsWith(prefix) ?? false
}

function madeId(newId: IdSource): string {
  const id = newId('call')
  return id.startsWith(prefix) ? id : prefix + id
}

function isTaken(id: string, events: readonly Event[]): boolean {
  return events.some(({ content }) => content?.parts?.some(({ functionCall }) => functionCall?.id === id))
}
