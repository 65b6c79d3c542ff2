import type { FinishReason, ModelPart } from '../model.js'
import { writePiece, type AnswerPiece, type WriteOptions } from './answer-piece.js'
import { createCloser } from './closer.js'

export interface WriteAnswerOptions extends WriteOptions {
  /** Added to a usage that does not name them. */
  readonly provider: string
  readonly modelId: string
  readonly signal: AbortSignal
  /** Waited for before each piece of text and of arguments. */
  readonly pause?: () => Promise<void>
}

/**
 * Writes an answer out, keeping the contract of a model: what is begun is ended, `finish` comes once and last, and it
 * throws when the signal aborts. The reason is `tool-calls` when there are any, else `stop`, unless a piece sets it.
 */
export async function* writeAnswer(
  pieces: AsyncIterable<AnswerPiece> | Iterable<AnswerPiece>,
  options: WriteAnswerOptions,
): AsyncGenerator<ModelPart, void> {
  const { provider, modelId: model, signal, pause } = options
  const closer = createCloser()
  let reason: FinishReason | undefined
  let report = {}
  for await (const piece of pieces) {
    if (typeof piece === 'object' && !('type' in piece)) {
      if ('finish' in piece) reason = piece.finish
      if ('usage' in piece) report = { usage: { provider, model, ...piece.usage } }
    }
    for (const part of writePiece(piece, options)) {
      if (pause !== undefined && 'delta' in part) await pause()
      signal.throwIfAborted()
      for (const told of closer.add(part)) yield told
    }
    if (closer.isFinished) return
  }
  signal.throwIfAborted()
  yield* closer.add({
    type: 'finish',
    reason: reason ?? (closer.hasCalls ? 'tool-calls' : 'stop'),
    ...report,
  })
}
