import type { ReasoningMessage } from '@ag-ui/core'
import type { AIMessage, ContentBlock } from '@langchain/core/messages'
import { isRecord } from '../../core/json.js'
import { readExtras, type MessageExtras } from './message-extras.js'

/** The reasoning of a LangChain message: blocks of its content, and fields beside it. */
interface AttachedReasoning {
  readonly blocks: readonly ContentBlock[]
  readonly kwargs: Readonly<Record<string, unknown>>
  readonly extras: MessageExtras
}

/**
 * Attaches reasoning messages to the assistant message that follows them. Signed reasoning takes the form of the
 * provider that signed it: an `rs_` id is OpenAI's, all others take Anthropic's form, which Google's client understands
 * too. Unsigned reasoning goes beside the content, because providers refuse it there.
 */
export function attachReasoning(messageId: string, messages: readonly ReasoningMessage[]): AttachedReasoning {
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

/** The id of reasoning without a provider's id. `index` counts those of one message from 0. */
export function reasoningId(messageId: string, index: number): string {
  return index === 0 ? `${messageId}:reasoning` : `${messageId}:reasoning:${index + 1}`
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

/** The reasoning of a LangChain message, in the form of any provider, as AG-UI messages. */
export function detachReasoning(messageId: string, message: AIMessage): ReasoningMessage[] {
  const { reasoning, reasoning_content: plain } = message.additional_kwargs
  const inContent = Array.isArray(message.content) ? thoughtsIn(message.content) : []
  // OpenAI's client puts reasoning into both places, or only here.
  const beside = inContent.length === 0 ? thoughtsIn([toReasoningBlock(reasoning)]) : []
  const unsigned = typeof plain === 'string' && plain !== '' ? plain : undefined
  const thoughts: Thought[] = [
    ...inContent,
    ...beside,
    ...(unsigned === undefined ? [] : [{ id: readExtras(message).reasoningId, text: unsigned }]),
  ]
  let unnamed = 0
  return thoughts.map(({ id, text, signature }) => ({
    id: id ?? reasoningId(messageId, unnamed++),
    role: 'reasoning',
    content: text,
    ...(signature === undefined ? {} : { encryptedValue: signature }),
  }))
}

interface Thought {
  readonly id?: string | undefined
  readonly text: string
  readonly signature?: string | undefined
  /** The index of the content block. */
  readonly index?: unknown
}

/** Joins the blocks of one thought. A signature ends a thought, and so does a block of another kind. */
function thoughtsIn(content: readonly unknown[]): Thought[] {
  const whole: Thought[] = []
  let last: Thought | undefined
  for (const block of content) {
    const thought = readThought(block)
    if (thought && last && isSameThought(last, thought)) {
      last = { ...last, ...thought, id: last.id, text: last.text + thought.text }
      whole[whole.length - 1] = last
    } else {
      last = thought
      if (thought) whole.push(thought)
    }
  }
  return whole
}

function isSameThought(last: Thought, next: Thought): boolean {
  return last.signature === undefined && last.index === next.index && (next.id ?? last.id) === last.id
}

function readThought(block: unknown): Thought | undefined {
  const chunks = readReasoningBlock(block)
  const text = chunks.flatMap((chunk) => chunk.text ?? []).join('\n\n')
  const signature = chunks.findLast((chunk) => chunk.signature !== undefined)?.signature
  if (text === '' && signature === undefined) return undefined
  return { id: chunks[0]?.id, text, signature, index: isRecord(block) ? block.index : undefined }
}

/** A chunk of reasoning, of any provider. */
export interface ReasoningChunk {
  /** The provider's id. It may come before any text. */
  readonly id?: string | undefined
  readonly text?: string | undefined
  /** The provider's signature or encrypted content. The next request must contain it. */
  readonly signature?: string | undefined
  /** The content block that the chunk belongs to. */
  readonly block?: string | number | undefined
  /** The paragraph of the block. */
  readonly paragraph?: number | undefined
  /** The reasoning has no text. */
  readonly isRedacted?: boolean
}

const none: readonly ReasoningChunk[] = []

/** Reads the reasoning in a content block, whole or of a chunk. */
export function readReasoningBlock(block: unknown): readonly ReasoningChunk[] {
  if (!isRecord(block)) return none
  const id = nonEmpty(block.id)
  switch (block.type) {
    case 'thinking': {
      const signature = nonEmpty(block.signature)
      return [{ id, text: nonEmpty(block.thinking), signature, block: blockIndex(block.index) }]
    }
    case 'redacted_thinking':
      return [{ id, signature: nonEmpty(block.data), isRedacted: true }]
    case 'reasoning_content':
      return bedrockReasoning(block)
    case 'reasoning':
      return standardReasoning(block)
    default:
      return none
  }
}

/** Reads the reasoning beside the content: of DeepSeek and similar providers, and of OpenAI's Responses API. */
export function readReasoningKwargs(kwargs: Readonly<Record<string, unknown>>): readonly ReasoningChunk[] {
  const { reasoning_content: plain, reasoning } = kwargs
  if (typeof plain === 'string') return plain === '' ? none : [{ text: plain }]
  return readReasoningBlock(toReasoningBlock(reasoning))
}

function toReasoningBlock(reasoning: unknown): unknown {
  return isRecord(reasoning) ? { ...reasoning, type: 'reasoning' } : { type: 'reasoning', reasoning }
}

function bedrockReasoning(block: Record<string, unknown>): readonly ReasoningChunk[] {
  const { reasoningText, reasoning_content: snakeCase, redactedContent, index } = block
  if (redactedContent !== undefined) return [{ signature: toBase64(redactedContent), isRedacted: true }]
  const inner = reasoningText ?? snakeCase
  const { text, signature } = isRecord(inner) ? inner : { text: inner, signature: undefined }
  return [{ text: nonEmpty(text), signature: nonEmpty(signature), block: blockIndex(index) }]
}

/** LangChain's standard block, and OpenAI's item: a summary in parts, or the reasoning itself. */
function standardReasoning(block: Record<string, unknown>): readonly ReasoningChunk[] {
  const { reasoning = block.text, summary, content } = block
  const id = nonEmpty(block.id)
  const signature = nonEmpty(block.encrypted_content) ?? nonEmpty(block.signature)
  if (typeof reasoning === 'string')
    return [{ id, text: nonEmpty(reasoning), signature, paragraph: numberOr(block.index, undefined) }]
  const parts: unknown = [summary, content].find((list) => Array.isArray(list) && list.length > 0)
  const records = Array.isArray(parts) ? parts.filter(isRecord) : []
  const chunks: ReasoningChunk[] = records.map((part, index) => {
    return { id, text: nonEmpty(part.text), paragraph: numberOr(part.index, index) }
  })
  return id === undefined && signature === undefined ? chunks : [{ id }, ...chunks, { id, signature }]
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function numberOr<T>(value: unknown, fallback: T): number | T {
  return typeof value === 'number' ? value : fallback
}

function blockIndex(index: unknown): string | number | undefined {
  return typeof index === 'number' || typeof index === 'string' ? index : undefined
}

function toBase64(value: unknown): string | undefined {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : nonEmpty(value)
}
