import type { AssistantMessage, Message, ReasoningMessage, ToolMessage, UserMessage } from '@ag-ui/core'
import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage as LangChainToolMessage,
  type BaseMessage,
} from '@langchain/core/messages'
import { toContentBlocks } from './content.js'
import { toExtrasKwargs, type MessageExtras } from './message-extras.js'
import { attachReasoning } from './reasoning.js'
import { toolResultId } from './to-agui.js'
import { toLangChainCalls } from './tool-calls.js'

/**
 * AG-UI messages as LangChain messages, with their ids. Reasoning becomes part of the assistant message that follows it,
 * and is left out if none does. Activities are left out.
 */
export function toLangChain(messages: readonly Message[]): BaseMessage[] {
  const names = toolNamesByCall(messages)
  const answered = new Set(
    messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])),
  )
  let reasoning: ReasoningMessage[] = []
  return messages.flatMap((message): BaseMessage[] => {
    switch (message.role) {
      case 'reasoning':
        reasoning.push(message)
        return []
      case 'activity':
        return []
      case 'assistant': {
        const before = reasoning
        reasoning = []
        return [toAiMessage(message, before, (id) => answered.has(id))]
      }
      default:
        reasoning = []
        return [
          message.role === 'tool'
            ? toLangChainResult(message, names.get(message.toolCallId))
            : toPromptMessage(message),
        ]
    }
  })
}

function toolNamesByCall(messages: readonly Message[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  return new Map(calls.map((call) => [call.id, call.function.name]))
}

function toPromptMessage(
  message: Exclude<Message, { role: 'reasoning' | 'activity' | 'assistant' | 'tool' }>,
): BaseMessage {
  const fields = {
    id: message.id,
    ...nameField(message.name),
    additional_kwargs: toExtrasKwargs(commonExtras(message)),
  }
  if (message.role === 'user') return new HumanMessage({ ...fields, ...contentFields(message) })
  // LangChain has no developer role. Its OpenAI client reads it here.
  const isDeveloper = message.role === 'developer'
  const role = isDeveloper ? { __openai_role__: 'developer' } : {}
  return new SystemMessage({
    ...fields,
    content: message.content,
    additional_kwargs: { ...fields.additional_kwargs, ...role },
  })
}

type WithContent = Pick<UserMessage | ToolMessage, 'content'>

function contentFields({
  content,
}: WithContent): { content: string } | { contentBlocks: ReturnType<typeof toContentBlocks> } {
  return typeof content === 'string' ? { content } : { contentBlocks: toContentBlocks(content) }
}

function toAiMessage(
  message: AssistantMessage,
  reasoning: readonly ReasoningMessage[],
  isAnswered: (toolCallId: string) => boolean,
): AIMessage {
  const { id, content = '', toolCalls = [], name } = message
  const { kwargs, ...calls } = toLangChainCalls(toolCalls, isAnswered)
  const attached = attachReasoning(id, reasoning)
  const text = content === '' ? [] : [{ type: 'text', text: content }]
  return new AIMessage({
    id,
    ...nameField(name),
    ...calls,
    content: attached.blocks.length === 0 ? content : [...attached.blocks, ...text],
    additional_kwargs: {
      ...attached.kwargs,
      ...kwargs,
      ...toExtrasKwargs({ ...commonExtras(message), ...attached.extras }),
    },
  })
}

function toLangChainResult(message: ToolMessage, name: string | undefined): LangChainToolMessage {
  const { id, toolCallId, error } = message
  const content = message.content === '' && error !== undefined ? { content: error } : contentFields(message)
  const result = new LangChainToolMessage({
    id,
    ...nameField(name),
    tool_call_id: toolCallId,
    ...content,
    ...(error === undefined ? {} : { status: 'error' }),
  })
  result.additional_kwargs = toExtrasKwargs({
    ...commonExtras(message),
    ...(id === toolResultId(toolCallId) ? {} : { id }),
    ...(error === undefined ? {} : { error }),
  })
  return result
}

function commonExtras({
  metadata,
  encryptedValue,
}: Pick<UserMessage, 'metadata' | 'encryptedValue'>): MessageExtras {
  return {
    ...(metadata === undefined ? {} : { metadata }),
    ...(encryptedValue === undefined ? {} : { encryptedValue }),
  }
}

function nameField(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name }
}
