import { contentToText, type ContentPart, type Message, type Metadata } from '@ag-ui/core'
import { isRecord, parseJson } from '../core/json.js'
import type { AgentEvent, AgUiEvent } from './contract.js'

/** Text of a message's content, with `[image]`, `[audio]` ... in place of media. `contentToText` leaves media out. */
export function describeContent(content: string | readonly ContentPart[], separator = ' '): string {
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(separator)
}

/** Metadata of a message that is cut off because its run failed, was cancelled or lost. */
export const cutOffMark: Metadata = { millrace: { cutOff: true } }

/** Metadata of the result of a tool that failed. The event has no field for it; the tool message gets its `error`. */
export const toolErrorMark: Metadata = { millrace: { isError: true } }

/** Metadata of a message of an agent or a tool that came with a client's history: no agent of this server wrote it. */
export const importedMark: Metadata = { millrace: { imported: true } }

/** Metadata of a call that a client has made itself, and of its result. */
export const reportedMark: Metadata = { millrace: { reported: true } }

/** Metadata of a user's message that a hook or an agent has changed: clients may still have their own words. */
export const rewrittenMark: Metadata = { millrace: { rewritten: true } }

/** Metadata of a snapshot that shows the state to clients, maybe changed by a hook: it says nothing of the thread's state. */
export const displayMark: Metadata = { millrace: { display: true } }

/** The CUSTOM event before another attempt. Its `messageIds` are rejected. */
export const retryEventName = 'millrace.retry'

/**
 * The CUSTOM event for messages that clients have in an older version: their new `messages`, and the `messageIds` of those
 * that are gone. Clients may show the change at once. All get it with the snapshot at the end of the run.
 */
export const rewriteEventName = 'millrace.rewrite'

/**
 * The CUSTOM event for a client that has seen events which were lost with their process. The snapshots behind it have the
 * thread as it is without them.
 */
export const lostEventName = 'millrace.lost'

/**
 * The CUSTOM event for a client that follows a thread by its versions. The snapshots behind it are all of the thread, at the
 * version of its value; what the client had before does not count.
 */
export const threadEventName = 'millrace.thread'

/** The event that replaces the content and the tool calls of messages, by their ids; of results, by their calls. */
export function rewriteMessages(
  messages: readonly Message[],
  messageIds: readonly string[] = [],
): AgentEvent {
  const gone = messageIds.length === 0 ? {} : { messageIds }
  return { type: 'CUSTOM', name: rewriteEventName, value: { messages, ...gone } }
}

/** Metadata of a rejected message. Clients may hide it until the run ends without it; models never see it. */
export function rejectedMark(reason: string): Metadata {
  return { millrace: { rejected: reason } }
}

/** Content of the result of a rejected call, which nobody may execute. */
export const rejectedCallContent = 'This call was rejected. It was not carried out.'

/** Whether a message was cut off because its run failed, was cancelled or lost. */
export function isCutOff(message: Pick<Message, 'metadata'>): boolean {
  return millraceMark(message)?.cutOff === true
}

/** Whether a tool message, or the event with the result, says that the tool failed. */
export function isToolError(message: Pick<Message, 'metadata'> & { readonly error?: string }): boolean {
  return message.error !== undefined || millraceMark(message)?.isError === true
}

/** The `error` of a tool message, from the result of a tool that failed. Some runtimes wrap it: `{ "error": "..." }`. */
export function toToolError(content: string | ContentPart[]): string {
  const text = contentToText(content)
  const value = text.startsWith('{') ? parseJson(text) : undefined
  const error = isRecord(value) && typeof value.error === 'string' ? value.error : text
  // A sentence of its own: clients fold too, and do without the table of sentences.
  return error || 'A tool failed.'
}

/** Whether a message of an agent or a tool came with a client's history. */
export function isImported(message: Pick<Message, 'metadata'>): boolean {
  return millraceMark(message)?.imported === true
}

/** Whether a message is a call that a client has made itself, or its result. */
export function isReported(message: Pick<Message, 'metadata'>): boolean {
  return millraceMark(message)?.reported === true
}

/** Whether a hook or an agent has changed what the user wrote. */
export function isRewritten(message: Pick<Message, 'metadata'>): boolean {
  return millraceMark(message)?.rewritten === true
}

/** Whether a snapshot shows the state to clients, and says nothing of the thread's state. */
export function isForDisplay(event: Pick<AgUiEvent, 'metadata'>): boolean {
  return millraceMark(event)?.display === true
}

/** Whether a message belongs to an attempt that was rejected. */
export function isRejected(message: Pick<Message, 'metadata'>): boolean {
  const mark = millraceMark(message)
  return mark !== undefined && 'rejected' in mark
}

/** The message with a mark beside those that it has. */
export function addMark<M extends Pick<Message, 'metadata'>>(message: M, { millrace: mark }: Metadata): M {
  const millrace: unknown = Object.assign({}, millraceMark(message), mark)
  return { ...message, metadata: { ...message.metadata, millrace } }
}

function millraceMark({ metadata }: Pick<Message, 'metadata'>): Record<string, unknown> | undefined {
  const mark: unknown = metadata?.millrace
  return isRecord(mark) ? mark : undefined
}

/** Events that mark a text or reasoning message as rejected. The run stream opens a message that has ended once more. */
export function rejectMessage(
  { id: messageId, role, subagentRunId }: Pick<Message, 'id' | 'role' | 'subagentRunId'>,
  reason: string,
): AgentEvent[] {
  const tag = subagentRunId === undefined ? {} : { subagentRunId }
  const mark = { metadata: rejectedMark(reason), ...tag }
  if (role === 'reasoning')
    return [
      { type: 'REASONING_MESSAGE_START', messageId, role, ...mark },
      { type: 'REASONING_MESSAGE_END', messageId, ...tag },
    ]
  const writer = role === 'tool' || role === 'activity' ? 'assistant' : role
  return [
    { type: 'TEXT_MESSAGE_START', messageId, role: writer, ...mark },
    { type: 'TEXT_MESSAGE_END', messageId, ...tag },
  ]
}
