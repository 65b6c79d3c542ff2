import type { Message, Metadata } from '@ag-ui/core'
import { isRecord } from '../../core/json.js'

const prefix = 'shown-'

/**
 * The id of a message or tool call that is shown to people and that the graph does not have: one that code emits, or a
 * tool that code calls.
 */
export function shownOnlyId(id: string): string {
  return `${prefix}${id}`
}

/** Metadata of a message that code has emitted under an id of its own; `false` once the graph has the message too. */
export function shownOnlyMark(isShownOnly: boolean): Metadata {
  return { langgraph: { shownOnly: isShownOnly } }
}

/** The messages of a thread without those that were only shown to people: the graph does not have them. */
export function withoutShownOnly(messages: readonly Message[]): readonly Message[] {
  const shownOnly = messages.filter(isShownOnly)
  if (shownOnly.length === 0) return messages
  const calls = shownOnly.flatMap((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : [],
  )
  const gone = new Set<unknown>([...shownOnly, ...calls])
  return messages.filter(
    (message) => !gone.has(message) && !(message.role === 'tool' && gone.has(message.toolCallId)),
  )
}

function isShownOnly(message: Message): boolean {
  if ((message.role === 'tool' ? message.toolCallId : message.id).startsWith(prefix)) return true
  const mark: unknown = message.metadata?.langgraph
  return isRecord(mark) && mark.shownOnly === true
}
