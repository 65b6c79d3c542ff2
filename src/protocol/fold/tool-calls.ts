import type { AssistantMessage, ToolCall, ToolMessage } from '@ag-ui/core'
import type { EventOf } from '../contract.js'
import { type MessageList, addMetadata } from './message-list.js'

/** Adds a call to its assistant message. A second start of a call changes its name at most. */
export function foldCallStart(messages: MessageList, event: EventOf<'TOOL_CALL_START'>): string | undefined {
  const known = messages.ownCall(event.toolCallId)?.call
  if (known) {
    addMetadata(known, event)
    if (known.function.name === event.toolCallName) return undefined
    const old = known.function.name
    known.function.name = event.toolCallName
    return `TOOL_CALL_START: call '${event.toolCallId}' was named '${old}' and is now '${event.toolCallName}'`
  }
  const { message, problem } = holderFor(messages, event)
  const call: ToolCall = {
    id: event.toolCallId,
    type: 'function',
    function: { name: event.toolCallName, arguments: '' },
  }
  addMetadata(call, event)
  messages.addCall(message, call)
  return problem
}

export function foldCallContinuation(
  messages: MessageList,
  event: EventOf<'TOOL_CALL_ARGS' | 'TOOL_CALL_END'>,
): string | undefined {
  const call = messages.ownCall(event.toolCallId)?.call
  if (!call) return `${event.type}: there is no tool call '${event.toolCallId}'`
  if ('delta' in event) call.function.arguments += event.delta
  if (event.metadata !== undefined) addMetadata(call, event)
  return undefined
}

export function foldResult(messages: MessageList, event: EventOf<'TOOL_CALL_RESULT'>): string | undefined {
  const message: ToolMessage = {
    id: event.messageId,
    role: 'tool',
    toolCallId: event.toolCallId,
    content: event.content,
    ...(event.subagentRunId === undefined ? {} : { subagentRunId: event.subagentRunId }),
  }
  addMetadata(message, event)
  const problem = resultProblem(messages, event)
  messages.insertResult(message, event.toolCallId)
  return problem
}

/** Clients take such a result silently, but it leaves a history no model provider accepts. */
function resultProblem(messages: MessageList, event: EventOf<'TOOL_CALL_RESULT'>): string | undefined {
  if (messages.get(event.messageId)) {
    return `TOOL_CALL_RESULT: message id '${event.messageId}' is already in use`
  }
  if (!messages.hasCall(event.toolCallId)) {
    return `TOOL_CALL_RESULT: there is no tool call '${event.toolCallId}'`
  }
  return undefined
}

/** The assistant message a new call belongs to; made when it is not there yet. */
function holderFor(
  messages: MessageList,
  event: EventOf<'TOOL_CALL_START'>,
): { message: AssistantMessage; problem?: string } {
  const { parentMessageId, toolCallId } = event
  // An empty parent id reads as none, as it does for clients.
  const parent = parentMessageId ? messages.own(parentMessageId) : undefined
  if (parent?.role === 'assistant') return { message: parent }
  const created: AssistantMessage = {
    id: parentMessageId && !parent ? parentMessageId : toolCallId,
    role: 'assistant',
    toolCalls: [],
    ...(event.subagentRunId === undefined ? {} : { subagentRunId: event.subagentRunId }),
  }
  messages.push(created)
  if (!parent) return { message: created }
  const problem = `TOOL_CALL_START: parentMessageId '${parent.id}' has the role ${parent.role}, not assistant`
  return { message: created, problem }
}
