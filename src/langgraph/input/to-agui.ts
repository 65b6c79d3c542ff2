import type { AssistantMessage, Message } from '@ag-ui/core'
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
import { stableHash } from '../../core/hash.js'
import { partsOf, textOf } from './content.js'
import { extrasOf } from './extras.js'
import { detachReasoning } from './reasoning.js'
import { fromLangChainCalls } from './tool-calls.js'

/** The id of a tool's result as clients see it, for a result that was made by the graph. */
export function resultId(toolCallId: string): string {
  return `${toolCallId}:result`
}

/** What `createAgent` calls the author of its messages when nobody has named the agent: its node. */
const unnamedAgent = 'model'

/**
 * Messages of a graph's state as a conversation of AG-UI: messages of LangChain, and what LangChain takes for one, such
 * as `{ role, content }`. Reasoning comes before its message. Orders to remove messages, and what is no message, are left
 * out. Changes nothing in them.
 */
export function toAgui(messages: unknown): Message[] {
  return readMessages(messages).flatMap(({ message, id }) => aguiOf(message, id))
}

/** A message of a graph, and the id it is known by. */
export interface GraphMessage {
  readonly message: BaseMessage
  readonly id: string
}

/** The messages in a value of a graph's state. One without an id is known by its place and its text. */
export function readMessages(value: unknown): GraphMessage[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((entry: unknown, index): GraphMessage[] => {
    const message = coerced(entry)
    if (!message || message.type === 'remove') return []
    return [{ message, id: message.id ?? madeUpId(message, index) }]
  })
}

function madeUpId({ type, content }: BaseMessage, index: number): string {
  return `lg-${stableHash(`${index}\n${type}\n${textOf(content)}`)}`
}

function coerced(entry: unknown): BaseMessage | undefined {
  if (BaseMessage.isInstance(entry)) return entry
  if (typeof entry !== 'object' || entry === null) return undefined
  try {
    return coerceMessageLikeToMessage(entry as BaseMessageLike)
  } catch {
    return undefined
  }
}

function aguiOf(message: BaseMessage, id: string): Message[] {
  if (AIMessage.isInstance(message)) return [...detachReasoning(id, message), assistant(message, id)]
  if (ToolMessage.isInstance(message)) return [toolResult(message)]
  const { metadata, encryptedValue } = extrasOf(message)
  const common = {
    id,
    ...(message.name === undefined ? {} : { name: message.name }),
    ...(metadata ? { metadata } : {}),
    ...(encryptedValue === undefined ? {} : { encryptedValue }),
  }
  if (HumanMessage.isInstance(message))
    return [{ ...common, role: 'user', content: partsOf(message.content) }]
  const content = textOf(message.content)
  if (SystemMessage.isInstance(message)) {
    const isDeveloper = message.additional_kwargs.__openai_role__ === 'developer'
    return [{ ...common, role: isDeveloper ? 'developer' : 'system', content }]
  }
  if (ChatMessage.isInstance(message)) return chat(message.role, { ...common, content })
  return []
}

function chat(role: string, fields: { id: string; content: string }): Message[] {
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

function assistant(message: AIMessage, id: string): AssistantMessage {
  const content = textOf(message.content)
  const toolCalls = fromLangChainCalls(id, message)
  const { metadata, encryptedValue } = extrasOf(message)
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

function toolResult(message: ToolMessage): Message {
  const { tool_call_id: toolCallId } = message
  const { id = resultId(toolCallId), metadata, encryptedValue, error } = extrasOf(message)
  const content = partsOf(message.content)
  const isError = message.status === 'error'
  return {
    id,
    role: 'tool',
    toolCallId,
    content,
    ...(isError ? { error: error ?? textOf(message.content) } : {}),
    ...(metadata ? { metadata } : {}),
    ...(encryptedValue === undefined ? {} : { encryptedValue }),
  }
}
