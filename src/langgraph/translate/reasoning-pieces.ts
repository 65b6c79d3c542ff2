import { isRecord } from '../../core/is-record.js'

/** A piece of what a model thinks, whatever provider it came from. */
export interface ReasoningPiece {
  /** The id that the provider gives it. It may come before there is any text. */
  readonly id?: string | undefined
  readonly text?: string | undefined
  /** The provider's seal on it: opaque, and wanted back with the next request. */
  readonly sealed?: string | undefined
  /** Which thought of the answer it belongs to. */
  readonly block?: string | number | undefined
  /** Which paragraph of the thought. */
  readonly paragraph?: number | undefined
  /** It has no text that anybody may read. */
  readonly isRedacted?: boolean
}

const none: readonly ReasoningPiece[] = []

/** What a block of a message's content says of reasoning. */
export function piecesOfBlock(block: unknown): readonly ReasoningPiece[] {
  if (!isRecord(block)) return none
  switch (block.type) {
    case 'thinking':
      return [thinking(block)]
    case 'redacted_thinking':
      return [{ sealed: text(block.data), isRedacted: true }]
    case 'reasoning_content':
      return bedrock(block)
    case 'reasoning':
      return reasoning(block)
    default:
      return none
  }
}

/** What stands beside the content: DeepSeek and its like, the Responses API of OpenAI. */
export function piecesBeside(kwargs: Readonly<Record<string, unknown>>): readonly ReasoningPiece[] {
  const { reasoning_content: plain, reasoning: other } = kwargs
  if (typeof plain === 'string') return plain === '' ? none : [{ text: plain }]
  if (typeof other === 'string') return other === '' ? none : [{ text: other }]
  return isRecord(other) ? reasoning(other) : none
}

function thinking({ thinking: said, signature, index }: Record<string, unknown>): ReasoningPiece {
  return { text: text(said), sealed: text(signature), block: place(index) }
}

function bedrock(block: Record<string, unknown>): readonly ReasoningPiece[] {
  const { reasoningText, reasoning_content: named, redactedContent, index } = block
  if (redactedContent !== undefined) return [{ sealed: base64(redactedContent), isRedacted: true }]
  const inner = reasoningText ?? named
  const { text: said, signature } = isRecord(inner) ? inner : { text: inner, signature: undefined }
  return [{ text: text(said), sealed: text(signature), block: place(index) }]
}

/** The standard block of LangChain, and an item of OpenAI: a summary in parts, or the thought itself. */
function reasoning(block: Record<string, unknown>): readonly ReasoningPiece[] {
  const { reasoning: said = block.text, summary = block.content, encrypted_content: encrypted } = block
  const id = text(block.id)
  const sealed = text(encrypted) ?? text(block.signature)
  if (typeof said === 'string') return [{ id, text: said, sealed, paragraph: number(block.index) }]
  const parts = Array.isArray(summary) ? summary.filter(isRecord) : []
  const pieces: ReasoningPiece[] = parts.map((part, index) => ({
    id,
    text: text(part.text),
    paragraph: number(part.index) ?? index,
  }))
  return id === undefined && sealed === undefined ? pieces : [{ id }, ...pieces, { id, sealed }]
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function place(index: unknown): string | number | undefined {
  return typeof index === 'number' || typeof index === 'string' ? index : undefined
}

function base64(value: unknown): string | undefined {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : text(value)
}
