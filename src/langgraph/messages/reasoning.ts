import type { ReasoningMessage } from '@ag-ui/core'
import type { AIMessage, ContentBlock } from '@langchain/core/messages'
import { isRecord } from '../../core/is-record.js'
import { ifString } from '../../core/json.js'
import { readExtras, type MessageExtras } from './extras.js'

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

/** The id of the reasoning that a provider gives no id. `index` counts those of one message from 0. */
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

interface Thought {
  readonly id?: string | undefined
  readonly text: string
  readonly signature?: string | undefined
  /** The index of the content block. */
  readonly index?: unknown
}

/** The reasoning of a LangChain message, in the form of any provider, as AG-UI messages. */
export function detachReasoning(messageId: string, message: AIMessage): ReasoningMessage[] {
  const inContent = Array.isArray(message.content) ? thoughtsIn(message.content) : []
  const beside = inContent.length === 0 ? thoughtsBeside(message) : []
  const plain = ifString(message.additional_kwargs.reasoning_content)
  const { reasoningId: plainId } = readExtras(message)
  const thoughts = [...inContent, ...beside, ...(plain ? [{ id: plainId, text: plain }] : [])]
  let unnamed = 0
  return thoughts.map(({ id, text, signature }: Thought) => ({
    id: id ?? reasoningId(messageId, unnamed++),
    role: 'reasoning',
    content: text,
    ...(signature === undefined ? {} : { encryptedValue: signature }),
  }))
}

/** OpenAI's client puts reasoning into both places, or only here. */
function thoughtsBeside({ additional_kwargs: { reasoning } }: AIMessage): Thought[] {
  if (typeof reasoning === 'string') return orNone({ text: reasoning })
  return isRecord(reasoning) ? readThought({ ...reasoning, type: 'reasoning' }) : []
}

/** Joins the blocks of one thought. A signature ends a thought, and so does a block of another kind. */
function thoughtsIn(content: readonly unknown[]): Thought[] {
  const whole: Thought[] = []
  let last: Thought | undefined
  for (const block of content) {
    const [thought] = readThought(block)
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

function readThought(block: unknown): Thought[] {
  if (!isRecord(block)) return []
  const { index } = block
  const id = ifString(block.id)
  switch (block.type) {
    case 'thinking':
      return orNone({ id, index, text: ifString(block.thinking) ?? '', signature: ifString(block.signature) })
    case 'redacted_thinking':
      return orNone({ id, index, text: '', signature: ifString(block.data) })
    case 'reasoning_content': {
      const inner = isRecord(block.reasoningText) ? block.reasoningText : {}
      const signature = ifString(inner.signature) ?? ifString(block.redactedContent)
      return orNone({ id, index, text: ifString(inner.text) ?? '', signature })
    }
    case 'reasoning': {
      const signature = ifString(block.encrypted_content ?? block.signature)
      return orNone({ id, index, text: summaryText(block), signature })
    }
    default:
      return []
  }
}

function summaryText({ reasoning, summary, content }: Record<string, unknown>): string {
  if (typeof reasoning === 'string') return reasoning
  const pieces = [summary, content].find((list) => Array.isArray(list) && list.length > 0)
  if (!Array.isArray(pieces)) return ''
  return pieces.map((piece: unknown) => (isRecord(piece) ? (ifString(piece.text) ?? '') : '')).join('\n\n')
}

function orNone(thought: Thought): Thought[] {
  return thought.text === '' && thought.signature === undefined ? [] : [thought]
}
