import type { AssistantMessage, Message, ReasoningMessage, ToolMessage, UserMessage } from '@ag-ui/core'
import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage as LangChainToolMessage,
  type BaseMessage,
} from '@langchain/core/messages'
import { blocksOf } from './content.js'
import { kwargsWith, type Extras } from './extras.js'
import { attachReasoning } from './reasoning.js'
import { resultId } from './to-agui.js'
import { toLangChainCalls } from './tool-calls.js'

/**
 * A conversation of AG-UI as messages of LangChain, with their ids. Reasoning goes back into the assistant message that
 * follows it, or is left out when none does; activities are for people only, and are left out.
 */
export function toLangChain(messages: readonly Message[]): BaseMessage[] {
  const names = callNames(messages)
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
        return [assistant(message, before, (id) => answered.has(id))]
      }
      default:
        reasoning = []
        return [message.role === 'tool' ? tool(message, names.get(message.toolCallId)) : spoken(message)]
    }
  })
}

function callNames(messages: readonly Message[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  return new Map(calls.map((call) => [call.id, call.function.name]))
}

function spoken(
  message: Exclude<Message, { role: 'reasoning' | 'activity' | 'assistant' | 'tool' }>,
): BaseMessage {
  const fields = {
    id: message.id,
    ...named(message.name),
    additional_kwargs: kwargsWith(commonExtras(message)),
  }
  if (message.role === 'user') return new HumanMessage({ ...fields, ...contentOf(message) })
  // LangChain has no such role. This is how its client of OpenAI knows it.
  const isDeveloper = message.role === 'developer'
  const role = isDeveloper ? { __openai_role__: 'developer' } : {}
  return new SystemMessage({
    ...fields,
    content: message.content,
    additional_kwargs: { ...fields.additional_kwargs, ...role },
  })
}

type WithContent = Pick<UserMessage | ToolMessage, 'content'>

function contentOf({
  content,
}: WithContent): { content: string } | { contentBlocks: ReturnType<typeof blocksOf> } {
  return typeof content === 'string' ? { content } : { contentBlocks: blocksOf(content) }
}

function assistant(
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
    ...named(name),
    ...calls,
    content: attached.blocks.length === 0 ? content : [...attached.blocks, ...text],
    additional_kwargs: {
      ...attached.kwargs,
      ...kwargs,
      ...kwargsWith({ ...commonExtras(message), ...attached.extras }),
    },
  })
}

function tool(message: ToolMessage, name: string | undefined): LangChainToolMessage {
  const { id, toolCallId, error } = message
  const content = message.content === '' && error !== undefined ? { content: error } : contentOf(message)
  const result = new LangChainToolMessage({
    id,
    ...named(name),
    tool_call_id: toolCallId,
    ...content,
    ...(error === undefined ? {} : { status: 'error' }),
  })
  result.additional_kwargs = kwargsWith({
    ...commonExtras(message),
    ...(id === resultId(toolCallId) ? {} : { id }),
    ...(error === undefined ? {} : { error }),
  })
  return result
}

function commonExtras({
  metadata,
  encryptedValue,
}: Pick<UserMessage, 'metadata' | 'encryptedValue'>): Extras {
  return {
    ...(metadata === undefined ? {} : { metadata }),
    ...(encryptedValue === undefined ? {} : { encryptedValue }),
  }
}

function named(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name }
}
