import { isRecord } from './is-record.js'
import { isRetryableStatus, modelError, type ModelFailure } from './model-error.js'
import type { Model, ModelPart, ModelRequest } from './model.js'
import { untilAborted } from './until-aborted.js'
import type { AnswerPiece } from './written/answer-piece.js'
import { writeAnswer } from './written/write-answer.js'

/**
 * A piece of a scripted answer.
 *
 * - `wait` holds the model in mid-stream until the promise settles; a function is called with the request's signal.
 * - `error` is thrown as it is when it is an `Error`; else it describes a MODEL_ERROR, for example `{ status: 429 }`.
 */
export type ScriptPiece =
  | AnswerPiece
  | { readonly wait: PromiseLike<unknown> | ((signal: AbortSignal) => PromiseLike<unknown>) }
  | { readonly error: Error | (Partial<ModelFailure> & { readonly message?: string }) }

/** One answer: pieces, or a single one. */
export type ScriptedAnswer = ScriptPiece | readonly ScriptPiece[]

/** The answers in order, or a function that is called for each request; `index` counts them from 0. */
export type Script =
  | readonly ScriptedAnswer[]
  | ((request: ModelRequest, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>)

export interface ScriptedModelOptions {
  readonly provider?: string
  readonly modelId?: string
  /** Cuts text, reasoning and arguments into deltas of this many characters. By default they stay whole. */
  readonly chunkSize?: number
}

/** A model that plays a script, and remembers what it was asked. */
export interface ScriptedModel extends Model {
  /** The requests so far, in order. */
  readonly requests: readonly ModelRequest[]
}

/**
 * A model for tests. It says the same in every run, fails with MODEL_ERROR when it is asked more often than the script
 * has answers, and stops when the signal aborts.
 *
 * @example
 * const model = scriptedModel([[{ toolCall: { name: 'weather', args: { city: 'Oslo' } } }], 'It rains.'])
 */
export function scriptedModel(
  script: Script,
  { provider = 'scripted', modelId = 'scripted', chunkSize = Infinity }: ScriptedModelOptions = {},
): ScriptedModel {
  const requests: ModelRequest[] = []
  let calls = 0
  const options = {
    provider,
    modelId,
    cut: (text: string) => cutBySize(text, chunkSize),
    nextCallId: () => `call-${++calls}`,
  }

  async function* stream(request: ModelRequest): AsyncGenerator<ModelPart, void> {
    const { signal } = request
    signal.throwIfAborted()
    const index = requests.push(request) - 1
    const answer = await untilAborted(Promise.resolve(answerOf(script, request, index)), signal)
    for await (const part of writeAnswer(play(answer, signal), options)) {
      signal.throwIfAborted()
      yield part
    }
  }

  return { provider, modelId, requests, stream }
}
