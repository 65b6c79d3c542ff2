import type { TokenUsage } from '@ag-ui/core'
import type { FinishReason, ModelPart } from './contract.js'

/**
 * A piece of an answer that was written beforehand. A string is text. Neighbours of one kind belong together: two
 * strings are two deltas of one text. A `ModelPart` is passed on as it is, for example to interleave tool calls.
 */
export type AnswerPiece =
  | string
  | { readonly text: string; readonly encryptedValue?: string }
  | { readonly reasoning: string; readonly encryptedValue?: string }
  | { readonly toolCall: WrittenToolCall }
  /** Reported by the `finish` part, wherever this piece stands. */
  | { readonly usage: TokenUsage }
  | { readonly finish: FinishReason }
  | ModelPart

interface WrittenToolCall {
  /** Generated when absent. */
  readonly id?: string
  readonly name: string
  /** A string is sent as it is, even if it is not JSON. Default `{}`. */
  readonly args?: unknown
  readonly encryptedValue?: string
}

export interface WriteAnswerOptions {
  /** Added to a usage that does not name them. */
  readonly provider: string
  readonly modelId: string
  readonly signal: AbortSignal
  readonly splitIntoDeltas: (text: string) => readonly string[]
  /** Returns an id for a tool call that has none. */
  readonly nextCallId: () => string
  /** Awaited before each delta. */
  readonly beforeDelta?: () => Promise<void>
}

/**
 * Turns a written answer into the stream that `Model` promises: adds missing ends, yields `finish` once and last, and
 * throws when the signal aborts. The finish reason is `tool-calls` if there are any, else `stop`, unless a piece sets it.
 */
export async function* writeAnswer(
  pieces: AsyncIterable<AnswerPiece> | Iterable<AnswerPiece>,
  options: WriteAnswerOptions,
): AsyncGenerator<ModelPart, void> {
  const { provider, modelId: model, signal, beforeDelta } = options
  const open = trackOpenParts()
  let finishReason: FinishReason | undefined
  let usage: { readonly usage?: TokenUsage } = {}
  let hasCalls = false
  for await (const piece of pieces) {
    if (typeof piece === 'object' && !('type' in piece)) {
      if ('finish' in piece) finishReason = piece.finish
      if ('usage' in piece) usage = { usage: { provider, model, ...piece.usage } }
    }
    for (const part of toModelParts(piece, options)) {
      if (beforeDelta !== undefined && 'delta' in part) await beforeDelta()
      signal.throwIfAborted()
      yield* open.endsBefore(part)
      yield part
      if (part.type === 'tool-call-start') hasCalls = true
      if (part.type === 'finish') return
    }
  }
  signal.throwIfAborted()
  const finish = {
    type: 'finish',
    reason: finishReason ?? (hasCalls ? 'tool-calls' : 'stop'),
    ...usage,
  } as const
  yield* open.endsBefore(finish)
  yield finish
}

/** The parts of a piece; none for `usage` and `finish`. */
function toModelParts(piece: AnswerPiece, { splitIntoDeltas, nextCallId }: WriteAnswerOptions): ModelPart[] {
  if (typeof piece === 'string') return toDeltas('text', splitIntoDeltas(piece), {})
  if ('type' in piece) return [piece]
  if ('text' in piece) return toDeltas('text', splitIntoDeltas(piece.text), piece)
  if ('reasoning' in piece) return toDeltas('reasoning', splitIntoDeltas(piece.reasoning), piece)
  if (!('toolCall' in piece)) return []
  const { id: toolCallId = nextCallId(), name: toolName, args = {}, encryptedValue } = piece.toolCall
  const deltas = splitIntoDeltas(typeof args === 'string' ? args : JSON.stringify(args))
  return [
    { type: 'tool-call-start', toolCallId, toolName },
    ...deltas.map((delta) => ({ type: 'tool-call-delta', toolCallId, delta }) as const),
    { type: 'tool-call-end', toolCallId, ...(encryptedValue !== undefined && { encryptedValue }) },
  ]
}

function toDeltas(
  kind: 'text' | 'reasoning',
  deltas: readonly string[],
  { encryptedValue }: { readonly encryptedValue?: string },
): ModelPart[] {
  const parts: ModelPart[] = deltas.map((delta) => ({ type: `${kind}-delta`, delta }))
  return encryptedValue === undefined ? parts : [...parts, { type: `${kind}-end`, encryptedValue }]
}

const nothing: readonly ModelPart[] = []

/** Text, reasoning and tool calls end each other; `finish` ends all. */
function trackOpenParts() {
  let open: 'text' | 'reasoning' | undefined
  const calls = new Set<string>()

  function switchTo(next: typeof open): ModelPart[] {
    const ends: ModelPart[] = open === undefined || open === next ? [] : [{ type: `${open}-end` }]
    open = next
    return ends
  }

  function endExplicitly(kind: 'text' | 'reasoning'): ModelPart[] {
    const ends = switchTo(kind)
    open = undefined
    return ends
  }

  return {
    /** The ends of all that the part implicitly ends. */
    endsBefore(part: ModelPart): readonly ModelPart[] {
      switch (part.type) {
        case 'text-delta':
          return open === 'text' ? nothing : switchTo('text')
        case 'text-end':
          return endExplicitly('text')
        case 'reasoning-delta':
          return switchTo('reasoning')
        case 'reasoning-end':
          return endExplicitly('reasoning')
        case 'tool-call-start':
          calls.add(part.toolCallId)
          return switchTo(undefined)
        case 'tool-call-delta':
          return []
        case 'tool-call-end':
          calls.delete(part.toolCallId)
          return []
        case 'finish':
          return [
            ...switchTo(undefined),
            ...Array.from(calls, (toolCallId) => ({ type: 'tool-call-end', toolCallId }) as const),
          ]
      }
    },
  }
}
