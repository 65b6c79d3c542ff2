import type { TokenUsage } from '@ag-ui/core'
import type { FinishReason, ModelPart } from './model.js'

/**
 * A piece of a written answer, in short. Strings are text. Neighbours of one kind belong together: two strings are two
 * deltas of one text. A `ModelPart` stands for itself, for example to end a text or to interleave tool calls.
 */
export type AnswerPiece =
  | string
  | { readonly text: string; readonly encryptedValue?: string }
  | { readonly reasoning: string; readonly encryptedValue?: string }
  | { readonly toolCall: WrittenToolCall }
  | { readonly usage: TokenUsage }
  | { readonly finish: FinishReason }
  | ModelPart

export interface WrittenToolCall {
  /** Made up when absent. */
  readonly id?: string
  readonly name: string
  /** A string is sent as it is, also when it is no JSON. */
  readonly args?: unknown
  readonly encryptedValue?: string
}

export interface PieceWriterOptions {
  /** Cuts text into deltas. */
  readonly cut: (text: string) => Iterable<string>
  /** Gives an id for a tool call that has none. */
  readonly nextCallId: () => string
}

/** Writes pieces out as parts that keep the contract of a model: what is begun is ended, and `finish` comes last. */
export interface PieceWriter {
  write(piece: AnswerPiece): ModelPart[]
  /** Ends what is open and finishes, unless a finish part was written. */
  end(): ModelPart[]
}

/** Makes the writer of one answer. */
export function createPieceWriter({ cut, nextCallId }: PieceWriterOptions): PieceWriter {
  let open: 'text' | 'reasoning' | undefined
  const openCalls = new Set<string>()
  let hasCalls = false
  let isFinished = false
  let reason: FinishReason | undefined
  let usage: TokenUsage | undefined

  function close(except?: typeof open): ModelPart[] {
    if (open === undefined || open === except) return []
    const end = { type: `${open}-end` } as const
    open = undefined
    return [end]
  }

  function speak(kind: 'text' | 'reasoning', text: string, encryptedValue?: string): ModelPart[] {
    const before = close(kind)
    const deltas = Array.from(cut(text), (delta) => ({ type: `${kind}-delta`, delta }) as const)
    open = encryptedValue === undefined ? kind : undefined
    const end = encryptedValue === undefined ? [] : [{ type: `${kind}-end`, encryptedValue } as const]
    return [...before, ...deltas, ...end]
  }

  function call({ id = nextCallId(), name, args = {}, encryptedValue }: WrittenToolCall): ModelPart[] {
    hasCalls = true
    const text = typeof args === 'string' ? args : JSON.stringify(args)
    return [
      ...close(),
      { type: 'tool-call-start', toolCallId: id, toolName: name },
      ...Array.from(cut(text), (delta) => ({ type: 'tool-call-delta', toolCallId: id, delta }) as const),
      { type: 'tool-call-end', toolCallId: id, ...(encryptedValue !== undefined && { encryptedValue }) },
    ]
  }

  function finish(part: ModelPart): ModelPart[] {
    isFinished = true
    const ends = Array.from(openCalls, (toolCallId) => ({ type: 'tool-call-end', toolCallId }) as const)
    return [...close(), ...ends, part]
  }

  function pass(part: ModelPart): ModelPart[] {
    ...
  }
  ...
}
