import type { AssistantMessage, Message, ToolCall } from '@ag-ui/core'
import {
  AIMessage,
  BaseMessage,
  ChatMessage,
  coerceMessageLikeToMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessageLike,
} from '@langchain/core/messages'
import { stableHash } from '../../core/ids.js'
import { repeatedCallId } from './call-ids.js'
import { contentText, toContentParts } from './content.js'
import { readExtras } from './message-extras.js'
import { detachReasoning } from './reasoning.js'
import { fromLangChainCalls } from './tool-calls.js'

/** The id that clients see for a tool result that the graph made. */
export function toolResultId(toolCallId: string): string {
  return `${toolCallId}:result`
}

/** `createAgent` puts the name of its node on the messages of an agent without a name. */
const unnamedAgent = 'model'

/**
 * The messages of a graph's state as AG-UI messages. Takes LangChain messages and whatever LangChain coerces to one, such
 * as `{ role, content }`. Reasoning comes before its message. `RemoveMessage`s and other values are left out.
 */
export function toAgui(messages: unknown): Message[] {
  return withUniqueCalls(
    readGraphMessages(messages).flatMap(({ message, id }) => toAguiMessages(message, id)),
  )
}

/** Gives calls that share an id ids of their own. A result belongs to the last call before it. */
function withUniqueCalls(messages: Message[]): Message[] {
  const ids = new Map<string, string>()
  const uniqueCall = (call: ToolCall, messageId: string): ToolCall => {
    const id = ids.has(call.id) ? repeatedCallId(call.id, messageId) : call.id
    ids.set(call.id, id)
    return id === call.id ? call : { ...call, id }
  }
  return messages.map((message) => {
    if (message.role === 'assistant' && message.toolCalls)
      return { ...message, toolCalls: message.toolCalls.map((call) => uniqueCall(call, message.id)) }
    const toolCallId = message.role === 'tool' ? ids.get(message.toolCallId) : undefined
    if (message.role !== 'tool' || toolCallId === undefined || toolCallId === message.toolCallId)
      return message
    const id = message.id === toolResultId(message.toolCallId) ? toolResultId(toolCallId) : message.id
    return { ...message, id, toolCallId }
  })
}

/** A message of a graph, and its id in the thread. */
export interface GraphMessage {
  readonly message: BaseMessage
  readonly id: string
}

/** Reads the messages in a value of a graph's state. A message without an id gets one from its index and text. */
export function readGraphMessages(value: unknown): GraphMessage[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((entry: unknown, index): GraphMessage[] => {
    const message = coerceMessage(entry)
    if (!message || message.type === 'remove') return []
    return [{ message, id: message.id ?? derivedId(message, index) }]
  })
}

function derivedId({ type, content }: BaseMessage, index: number): string {
  return `lg-${stableHash(`${index}\n${type}\n${contentText(content)}`)}`
}

function coerceMessage(entry: unknown): BaseMessage | undefined {
  if (BaseMessage.isInstance(entry)) return entry
  if (typeof entry !== 'object' || entry === null) return undefined
  try {
    return coerceMessageLikeToMessage(entry as BaseMessageLike)
  } catch {
    return undefined
  }
}

function toAguiMessages(message: BaseMessage, id: string): Message[] {
  if (AIMessage.isInstance(message)) return [...detachReasoning(id, message), toAssistantMessage(message, id)]
  if (ToolMessage.isInstance(message)) return [toToolMessage(message)]
  const { metadata, encryptedValue } = readExtras(message)
  const common = {
    id,
    ...(message.name === undefined ? {} : { name: message.name }),
    ...(metadata ? { metadata } : {}),
    ...(encryptedValue === undefined ? {} : { encryptedValue }),
  }
  if (HumanMessage.isInstance(message))
    return [{ ...common, role: 'user', content: toContentParts(message.content) }]
  const content = contentText(message.content)
  if (SystemMessage.isInstance(message)) {
    const isDeveloper = message.additional_kwargs.__openai_role__ === 'developer'
    return [{ ...common, role: isDeveloper ? 'developer' : 'system', content }]
  }
  if (ChatMessage.isInstance(message)) return fromChatMessage(message.role, { ...common, content })
  return []
}

function fromChatMessage(role: string, fields: { id: string; content: string }): Message[] {
  switch (role) {
    case 'user':
    case 'assistant':
    case 'system':
    case 'developer':
      return [{ ...fields, role }]
    default:
      return []
  }
}

function toAssistantMessage(message: AIMessage, id: string): AssistantMessage {
  const content = contentText(message.content)
  const toolCalls = fromLangChainCalls(id, message)
  const { metadata, encryptedValue } = readExtras(message)
  return {
    id,
    role: 'assistant',
    ...(message.name === undefined || message.name === unnamedAgent ? {} : { name: message.name }),
    ...(content === '' && toolCalls.length > 0 ? {} : { content }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(metadata ? { metadata } : {}),
    ...(encryptedValue === undefined ? {} : { encryptedValue }),
  }
}

function toToolMessage(message: ToolMessage): Message {
  const { tool_call_id: toolCallId } = message
  const { id = toolResultId(toolCallId), metadata, encryptedValue, error } = readExtras(message)
  const content = toContentParts(message.content)
  const isError = message.status === 'error'
  return {
    id,
    role: 'tool',
    toolCallId,
    content,
    ...(isError ? { error: error ?? contentText(message.content) } : {}),
    ...(metadata ? { metadata } : {}),
    ...(encryptedValue === undefined ? {} : { encryptedValue }),
  }
}
