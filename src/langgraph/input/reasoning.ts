import type { ReasoningMessage } from '@ag-ui/core'
import type { AIMessage, ContentBlock } from '@langchain/core/messages'
import { isRecord } from '../../core/is-record.js'
import { extrasOf, type Extras } from './extras.js'

/** Reasoning as an assistant message of LangChain has it: in its content, and beside it. */
interface Attached {
  readonly blocks: readonly ContentBlock[]
  readonly kwargs: Readonly<Record<string, unknown>>
  readonly extras: Extras
}

/**
 * Gives reasoning back to the message it was for. What is signed goes to the provider that has signed it: a `rs_` id is
 * OpenAI's, all else is in the style of Anthropic, which Google's client takes too. What is not signed is kept beside the
 * content, since providers refuse it.
 */
export function attachReasoning(messageId: string, messages: readonly ReasoningMessage[]): Attached {
  const openAi = messages.find(({ id }) => isOpenAi(id))
  const signed = messages.filter((message) => message.encryptedValue !== undefined && message !== openAi)
  const plain = messages.filter((message) => message.encryptedValue === undefined && message !== openAi)
  let unnamed = 0
  const isOwn = (id: string): boolean => id === reasoningId(messageId, unnamed) && ++unnamed > 0
  const blocks = signed.map((message) => thinkingBlock(message, isOwn(message.id)))
  const [first] = plain
  return {
    blocks,
    kwargs: {
      ...(openAi ? { reasoning: openAiReasoning(openAi) } : {}),
      ...(first ? { reasoning_content: plain.map(({ content }) => content).join('\n\n') } : {}),
    },
    extras: first && !isOwn(first.id) ? { reasoningId: first.id } : {},
  }
}

/** The id of a thought that its provider gives none: the same as in the stream. `before` are how many came before it. */
function reasoningId(messageId: string, before: number): string {
  return before === 0 ? `${messageId}:reasoning` : `${messageId}:reasoning:${before + 1}`
}

function isOpenAi(id: string): boolean {
  return id.startsWith('rs_')
}

function thinkingBlock({ id, content, encryptedValue }: ReasoningMessage, isOwn: boolean): ContentBlock {
  const kept = isOwn ? {} : { id }
  if (content === '') return { type: 'redacted_thinking', data: encryptedValue, ...kept }
  return { type: 'thinking', thinking: content, signature: encryptedValue, ...kept }
}

function openAiReasoning({ id, content, encryptedValue }: ReasoningMessage): Record<string, unknown> {
  const summary = content === '' ? [] : [{ type: 'summary_text', text: content }]
  return {
    ...{ type: 'reasoning', id, summary },
    ...(encryptedValue === undefined ? {} : { encrypted_content: encryptedValue }),
  }
}

interface Thought {
  readonly id?: string | undefined
  readonly text: string
  readonly signature?: string | undefined
  /** Which one of the answer. */
  readonly index?: unknown
}

/** The reasoning in a message of LangChain, in whatever style its provider has, as messages of their own. */
export function detachReasoning(messageId: string, message: AIMessage): ReasoningMessage[] {
  const inContent = Array.isArray(message.content) ? thoughtsIn(message.content) : []
  const beside = inContent.length === 0 ? thoughtBeside(message) : []
  const plain = string(message.additional_kwargs.reasoning_content)
  const { reasoningId: plainId } = extrasOf(message)
  const thoughts = [...inContent, ...beside, ...(plain ? [{ id: plainId, text: plain }] : [])]
  let unnamed = 0
  return thoughts.map(({ id, text, signature }: Thought) => ({
    id: id ?? reasoningId(messageId, unnamed++),
    role: 'reasoning',
    content: text,
    ...(signature === undefined ? {} : { encryptedValue: signature }),
  }))
}

/** OpenAI's client puts it into both places, or only here. */
function thoughtBeside({ additional_kwargs: { reasoning } }: AIMessage): Thought[] {
  if (typeof reasoning === 'string') return some({ text: reasoning })
  return isRecord(reasoning) ? thoughtOf({ ...reasoning, type: 'reasoning' }) : []
}

/** Providers send one thought in several blocks. A signature ends one, and so does whatever else is said. */
function thoughtsIn(content: readonly unknown[]): Thought[] {
  const whole: Thought[] = []
  let last: Thought | undefined
  for (const block of content) {
    const [thought] = thoughtOf(block)
    if (thought && last && isSame(last, thought)) {
      last = { ...last, ...thought, id: last.id, text: last.text + thought.text }
      whole[whole.length - 1] = last
    } else {
      last = thought
      if (thought) whole.push(thought)
    }
  }
  return whole
}

function isSame(last: Thought, next: Thought): boolean {
  return last.signature === undefined && last.index === next.index && (next.id ?? last.id) === last.id
}

function thoughtOf(block: unknown): Thought[] {
  if (!isRecord(block)) return []
  const { index } = block
  const id = string(block.id)
  switch (block.type) {
    case 'thinking':
      return some({ id, index, text: string(block.thinking) ?? '', signature: string(block.signature) })
    case 'redacted_thinking':
      return some({ id, index, text: '', signature: string(block.data) })
    case 'reasoning_content': {
      const inner = isRecord(block.reasoningText) ? block.reasoningText : {}
      const signature = string(inner.signature) ?? string(block.redactedContent)
      return some({ id, index, text: string(inner.text) ?? '', signature })
    }
    case 'reasoning': {
      const signature = string(block.encrypted_content ?? block.signature)
      return some({ id, index, text: reasoningText(block), signature })
    }
    default:
      return []
  }
}

function reasoningText({ reasoning, summary, content }: Record<string, unknown>): string {
  if (typeof reasoning === 'string') return reasoning
  const pieces = [summary, content].find((list) => Array.isArray(list) && list.length > 0)
  if (!Array.isArray(pieces)) return ''
  return pieces.map((piece: unknown) => (isRecord(piece) ? (string(piece.text) ?? '') : '')).join('\n\n')
}

function some(thought: Thought): Thought[] {
  return thought.text === '' && thought.signature === undefined ? [] : [thought]
}

function string(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
