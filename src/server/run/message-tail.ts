import type { Message } from '@ag-ui/core'
import type { MessageChange, PendingToolCall } from '../../threads/contract.js'

/**
 * What makes `after` of `before`. By identity: messages are never changed in place, and a run copies the ones it writes
 * to, so comparing pointers is enough.
 */
export function messageTail(before: readonly Message[], after: readonly Message[]): MessageChange {
  let keep = 0
  while (keep < before.length && keep < after.length && before[keep] === after[keep]) keep++
  return { keep, append: after.slice(keep) }
}

export interface ClientCalls {
  readonly clientTools: ReadonlySet<string>
  /** Those that were open before. */
  readonly before: readonly PendingToolCall[]
}

/** The calls that wait for the client's result, given what a run has added. */
export function openClientCalls(
  added: readonly Message[],
  { clientTools, before }: ClientCalls,
): readonly PendingToolCall[] {
  const answered = new Set(added.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])))
  const calls = added.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  const made = calls.map(({ id, function: { name } }) => ({ id, name }))
  const isOpen = ({ id }: PendingToolCall): boolean => !answered.has(id)
  return [...before, ...made.filter(({ name }) => clientTools.has(name))].filter(isOpen)
}

const titleLength = 80

/** What people recognise a conversation by: the beginning of what was first said. */
export function titleOf(messages: readonly Message[]): string {
  const first = messages.find(({ role }) => role === 'user')
  const content = first?.role === 'user' ? first.content : ''
  const text =
    typeof content === 'string'
      ? content
      : content.map((part) => (part.type === 'text' ? part.text : '')).join(' ')
  const line = text.replace(/\s+/gu, ' ').trim()
  return line.length <= titleLength
    ? line
    : `${line.slice(0, titleLength - 1).replace(/\p{Surrogate}$/u, '')}…`
}
