import type { TokenUsage } from '@ag-ui/core'
import type { FinishReason, ModelPart } from '../model.js'

/**
 * A piece of an answer that was written beforehand. A string is text. Neighbours of one kind belong together: two
 * strings are two deltas of one text. A `ModelPart` stands for itself, for example to interleave tool calls.
 */
export type AnswerPiece =
  | string
  | { readonly text: string; readonly encryptedValue?: string }
  | { readonly reasoning: string; readonly encryptedValue?: string }
  | { readonly toolCall: WrittenToolCall }
  /** Sets what the last part reports, wherever it stands. */
  | { readonly usage: TokenUsage }
  | { readonly finish: FinishReason }
  | ModelPart

interface WrittenToolCall {
  /** Made up when absent. */
  readonly id?: string
  readonly name: string
  /** A string is sent as it is, also when it is no JSON. Default `{}`. */
  readonly args?: unknown
  readonly encryptedValue?: string
}

export interface WriteOptions {
  /** Cuts text into deltas. */
  readonly cut: (text: string) => readonly string[]
  /** Gives an id for a tool call that has none. */
  readonly nextCallId: () => string
}

/** The parts of a piece. Those that only set what the last part reports have none. */
export function writePiece(piece: AnswerPiece, { cut, nextCallId }: WriteOptions): ModelPart[] {
  if (typeof piece === 'string') return spoken('text', cut(piece), {})
  if ('type' in piece) return [piece]
  if ('text' in piece) return spoken('text', cut(piece.text), piece)
  if ('reasoning' in piece) return spoken('reasoning', cut(piece.reasoning), piece)
  if (!('toolCall' in piece)) return []
  const { id: toolCallId = nextCallId(), name: toolName, args = {}, encryptedValue } = piece.toolCall
  const deltas = cut(typeof args === 'string' ? args : JSON.stringify(args))
  return [
    { type: 'tool-call-start', toolCallId, toolName },
    ...deltas.map((delta) => ({ type: 'tool-call-delta', toolCallId, delta }) as const),
    { type: 'tool-call-end', toolCallId, ...(encryptedValue !== undefined && { encryptedValue }) },
  ]
}

function spoken(
  kind: 'text' | 'reasoning',
  deltas: readonly string[],
  { encryptedValue }: { readonly encryptedValue?: string },
): ModelPart[] {
  const parts: ModelPart[] = deltas.map((delta) => ({ type: `${kind}-delta`, delta }))
  return encryptedValue === undefined ? parts : [...parts, { type: `${kind}-end`, encryptedValue }]
}
