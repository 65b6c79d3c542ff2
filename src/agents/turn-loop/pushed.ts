import type { Message, ToolMessage } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import type { IdSource } from '../../core/ids.js'

/** What can be pushed: a text of the user, or messages. Results of the client's tools are messages too. */
export type Pushed = string | Message | readonly Message[]

/** Throws INVALID_INPUT for what is no message. */
export function toMessages(pushed: Pushed, newId: IdSource): readonly Message[] {
  if (typeof pushed === 'string') return [{ id: newId('message'), role: 'user', content: pushed }]
  const messages = isList(pushed) ? pushed : [pushed]
  if (messages.some(({ id, role }) => typeof id !== 'string' || typeof role !== 'string'))
    throw new MillraceError('INVALID_INPUT', 'Every message needs an id and a role.')
  return messages
}

// Array.isArray does not narrow a readonly array.
function isList(pushed: Message | readonly Message[]): pushed is readonly Message[] {
  return Array.isArray(pushed)
}

/** The conversation with what was pushed at its end, except results: these go right behind their calls. */
export function withPushed(messages: readonly Message[], pushed: readonly Message[]): readonly Message[] {
  const all = [...messages]
  for (const message of pushed) {
    if (message.role === 'tool') all.splice(placeOf(all, message), 0, message)
    else all.push(message)
  }
  return all
}

/** Whether the conversation has the result of a call. */
export function hasResult(messages: readonly Message[], toolCallId: string): boolean {
  return messages.some((message) => message.role === 'tool' && message.toolCallId === toolCallId)
}

/** Whether a call was made in the conversation. */
export function hasCall(messages: readonly Message[], toolCallId: string): boolean {
  return messages.some((message) => holds(message, toolCallId))
}

function placeOf(messages: readonly Message[], { toolCallId }: ToolMessage): number {
  const holder = messages.findLastIndex((message) => holds(message, toolCallId))
  if (holder === -1) return messages.length
  const next = messages.findIndex(({ role }, position) => position > holder && role !== 'tool')
  return next === -1 ? messages.length : next
}

function holds(message: Message, toolCallId: string): boolean {
  return message.role === 'assistant' && message.toolCalls?.some(({ id }) => id === toolCallId) === true
}
