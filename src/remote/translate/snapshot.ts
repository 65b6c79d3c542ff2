import type { ActivityMessage, AssistantMessage, Message, ReasoningMessage, ToolMessage } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'
import type { AgentEvent } from '../../protocol/index.js'
import { checkMessage, type RawEvent } from './check-event.js'
import type { Seen } from './seen.js'

/**
 * What a snapshot of the agent's messages has that it did not stream, as events. The rest of it is left alone: it tells
 * the agent's view of a conversation that is not the agent's alone. Only what stands behind the last message it was
 * given is of this run. Throws INVALID_EVENT for a malformed message among them.
 */
export function unseenEvents(event: RawEvent, seen: Seen, name: string): AgentEvent[] {
  const all: readonly unknown[] = Array.isArray(event.messages) ? event.messages : []
  return all.slice(startOf(all, seen)).flatMap((value) => {
    const message = checkMessage(value, name)
    return message ? eventsOf(message, seen) : []
  })
}

/** Agents that give messages ids of their own are known by the user's last word. */
function startOf(all: readonly unknown[], seen: Seen): number {
  const lastSent = all.findLastIndex((one) => isRecord(one) && seen.wasSent(String(one.id)))
  if (lastSent >= 0) return lastSent + 1
  return all.findLastIndex((one) => isRecord(one) && one.role === 'user') + 1
}

function eventsOf(message: Message, seen: Seen): AgentEvent[] {
  const events = untaggedEvents(message, seen)
  const { subagentRunId } = message
  return subagentRunId === undefined ? events : events.map((event) => ({ ...event, subagentRunId }))
}

function untaggedEvents(message: Message, seen: Seen): AgentEvent[] {
  switch (message.role) {
    case 'assistant':
      return [...textEvents(message, seen), ...callEvents(message, seen)]
    case 'reasoning':
      return reasoningEvents(message, seen)
    case 'tool':
      return resultEvents(message, seen)
    case 'activity':
      return activityEvents(message, seen)
    case 'user':
    case 'system':
    case 'developer':
      return []
  }
}

/** Also when it was streamed under another id, as some servers do. */
function isSaid({ id, content }: AssistantMessage | ReasoningMessage, seen: Seen): boolean {
  return !content || seen.hasMessage(id) || seen.messageWith(content) !== undefined
}

function textEvents(message: AssistantMessage, seen: Seen): AgentEvent[] {
  const { id: messageId, content: delta = '', name } = message
  if (isSaid(message, seen)) return []
  return [
    {
      type: 'TEXT_MESSAGE_START',
      messageId,
      role: 'assistant',
      ...(name === undefined ? {} : { name }),
      ...metadataOf(message),
    },
    { type: 'TEXT_MESSAGE_CONTENT', messageId, delta },
    { type: 'TEXT_MESSAGE_END', messageId },
    ...encryptedEvents(message),
  ]
}

function callEvents({ id, content, toolCalls = [] }: AssistantMessage, seen: Seen): AgentEvent[] {
  const streamedAs = content && !seen.hasMessage(id) ? seen.messageWith(content) : undefined
  const parentMessageId = streamedAs ?? id
  return toolCalls
    .filter((call) => !seen.hasCall(call.id))
    .flatMap(({ id: toolCallId, function: called, encryptedValue }): AgentEvent[] => [
      { type: 'TOOL_CALL_START', toolCallId, toolCallName: called.name, parentMessageId },
      { type: 'TOOL_CALL_ARGS', toolCallId, delta: called.arguments },
      { type: 'TOOL_CALL_END', toolCallId },
      ...encryptedEvents({ id: toolCallId, encryptedValue }, 'tool-call'),
    ])
}

function reasoningEvents(message: ReasoningMessage, seen: Seen): AgentEvent[] {
  const { id: messageId, content: delta } = message
  if (isSaid(message, seen)) return []
  return [
    { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...metadataOf(message) },
    { type: 'REASONING_MESSAGE_CONTENT', messageId, delta },
    { type: 'REASONING_MESSAGE_END', messageId },
    ...encryptedEvents(message),
  ]
}

function resultEvents(message: ToolMessage, seen: Seen): AgentEvent[] {
  const { id: messageId, toolCallId, content } = message
  if (seen.hasMessage(messageId) || seen.hasResult(toolCallId)) return []
  return [{ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, role: 'tool', ...metadataOf(message) }]
}

function activityEvents({ id: messageId, activityType, content }: ActivityMessage, seen: Seen): AgentEvent[] {
  if (seen.hasMessage(messageId)) return []
  return [{ type: 'ACTIVITY_SNAPSHOT', messageId, activityType, content }]
}

interface Encrypted {
  readonly id: string
  readonly encryptedValue?: string | undefined
}

function encryptedEvents(
  { id: entityId, encryptedValue }: Encrypted,
  subtype: 'message' | 'tool-call' = 'message',
): AgentEvent[] {
  if (encryptedValue === undefined) return []
  return [{ type: 'REASONING_ENCRYPTED_VALUE', subtype, entityId, encryptedValue }]
}

function metadataOf({ metadata }: Message): Pick<Message, 'metadata'> {
  return metadata === undefined ? {} : { metadata }
}
