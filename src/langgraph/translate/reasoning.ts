import type { MessageWriter } from '../../bridge/message-writer.js'
import { isRecord } from '../../core/is-record.js'
import { reasoningId } from '../messages/reasoning.js'

/** A chunk of reasoning, of any provider. */
export interface ReasoningChunk {
  /** The provider's id. It may come before any text. */
  readonly id?: string | undefined
  readonly text?: string | undefined
  /** The provider's signature or encrypted content, wanted back with the next request. */
  readonly signature?: string | undefined
  /** The content block that the chunk belongs to. */
  readonly block?: string | number | undefined
  /** The paragraph of the block. */
  readonly paragraph?: number | undefined
  /** The reasoning has no text. */
  readonly isRedacted?: boolean
}

/** Writes the reasoning of one model message: an AG-UI message for each block. */
export class ReasoningWriter {
  readonly #writer: MessageWriter
  /** How many had no id of the provider. */
  #unnamed = 0
  /** The provider's id of the next message. */
  #nextId: string | undefined
  #latestId: string | undefined
  #block: ReasoningChunk['block']
  #paragraph: number | undefined
  /** The signature of the message being written, as far as it came. */
  #signature = ''
  /** The messages written. */
  readonly ids: string[] = []

  constructor(writer: MessageWriter) {
    this.#writer = writer
  }

  write(chunk: ReasoningChunk, messageId: string): void {
    const { id, text, signature, block, paragraph, isRedacted = false } = chunk
    if (isRedacted || (block !== undefined && this.#block !== undefined && block !== this.#block)) {
      this.end()
      this.#latestId = undefined
    }
    this.#block = block ?? this.#block
    if (id !== undefined && !(this.#isOpen && id === this.#latestId)) {
      this.end()
      this.#nextId = id
    }
    if (text !== undefined && text !== '') this.#writeText(text, paragraph, messageId)
    if (signature !== undefined) this.#writeSignature(signature, messageId)
    if (isRedacted) this.#latestId = undefined
  }

  /** Ends the message being written, if any. */
  end(): void {
    if (this.#isOpen) this.#writer.end()
  }

  get #isOpen(): boolean {
    return this.#writer.kind === 'reasoning'
  }

  #writeText(text: string, paragraph: number | undefined, messageId: string): void {
    const isNext = this.#isOpen && this.#paragraph !== undefined && paragraph !== this.#paragraph
    this.#paragraph = paragraph
    if (!this.#isOpen) {
      this.#signature = ''
      this.#writer.begin('reasoning', this.#newId(messageId))
    }
    this.#writer.write(isNext && paragraph !== undefined ? `\n\n${text}` : text)
  }

  #writeSignature(signature: string, messageId: string): void {
    if (this.#isOpen) {
      this.#signature += signature
      this.#writer.sendEncryptedValue(this.#signature)
      return
    }
    const latestId = this.#nextId === undefined ? this.#latestId : undefined
    this.#writer.sendEncryptedValue(signature, latestId ?? this.#newId(messageId))
  }

  #newId(messageId: string): string {
    const id = this.#nextId ?? reasoningId(messageId, this.#unnamed++)
    this.#nextId = undefined
    this.#latestId = id
    if (!this.ids.includes(id)) this.ids.push(id)
    return id
  }
}

const none: readonly ReasoningChunk[] = []

/** The reasoning in a content block. */
export function blockReasoning(block: unknown): readonly ReasoningChunk[] {
  if (!isRecord(block)) return none
  switch (block.type) {
    case 'thinking':
      return [
        {
          text: nonEmpty(block.thinking),
          signature: nonEmpty(block.signature),
          block: blockIndex(block.index),
        },
      ]
    case 'redacted_thinking':
      return [{ signature: nonEmpty(block.data), isRedacted: true }]
    case 'reasoning_content':
      return bedrockReasoning(block)
    case 'reasoning':
      return standardReasoning(block)
    default:
      return none
  }
}

/** The reasoning beside the content: of DeepSeek and similar providers, and of OpenAI's Responses API. */
export function kwargsReasoning(kwargs: Readonly<Record<string, unknown>>): readonly ReasoningChunk[] {
  const { reasoning_content: plain, reasoning } = kwargs
  const text = typeof plain === 'string' ? plain : reasoning
  if (typeof text === 'string') return text === '' ? none : [{ text }]
  return isRecord(reasoning) ? standardReasoning(reasoning) : none
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
  const { reasoning = block.text, summary = block.content } = block
  const id = nonEmpty(block.id)
  const signature = nonEmpty(block.encrypted_content) ?? nonEmpty(block.signature)
  if (typeof reasoning === 'string')
    return [{ id, text: reasoning, signature, paragraph: numberOr(block.index, undefined) }]
  const parts = Array.isArray(summary) ? summary.filter(isRecord) : []
  const chunks: ReasoningChunk[] = parts.map((part, index) => ({
    id,
    text: nonEmpty(part.text),
    paragraph: numberOr(part.index, index),
  }))
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
