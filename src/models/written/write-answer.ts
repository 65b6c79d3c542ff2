import type { FinishReason, ModelPart } from '../model.js'
import { writePiece, type AnswerPiece, type WriteOptions } from './answer-piece.js'
import { createCloser } from './closer.js'

export interface WriteAnswerOptions extends WriteOptions {
  /** Added to a usage that does not name them. */
  readonly provider: string
  readonly modelId: string
  readonly signal: AbortSignal
  /** Waited for before each part. */
  readonly pause?: () => Promise<void>
}

/**
 * Writes an answer out, keeping the contract of a model: what is begun is ended, `finish` comes once and last, and it
 * throws when the signal aborts. The reason is `tool-calls` when there are any, else `stop`, unless a piece sets it.
 */
export async function* writeAnswer(
  pieces: AsyncIterable<AnswerPiece>,
  options: WriteAnswerOptions,
): AsyncGenerator<ModelPart, void> {
  const { provider, modelId: model, signal, pause } = options
  const closer = createCloser()
  let reason: FinishReason | undefined
  let report = {}

  async function* send(part: ModelPart) {
    if (pause !== undefined) await pause()
    signal.throwIfAborted()
    yield* closer.add(part)
  }

  for await (const piece of pieces) {
    ...
  }
}
