import { untilAborted } from '../core/abort.js'
import type { Model, ModelRequest } from './contract.js'
import { isRetryableStatus, modelError, type ModelFailure } from './model-error.js'
import { writeAnswer, type AnswerPiece } from './write-answer.js'

/**
 * A piece of a scripted answer.
 *
 * - `wait` blocks the stream until the promise settles; a function gets the request's signal.
 * - `error` is thrown as it is if it is an `Error`; otherwise it describes a MODEL_ERROR, for example `{ status: 429 }`.
 */
export type ScriptPiece =
  | AnswerPiece
  | { readonly wait: PromiseLike<unknown> | ((signal: AbortSignal) => PromiseLike<unknown>) }
  | { readonly error: Error | ScriptedFailure }

type ScriptedFailure = Partial<ModelFailure> & { readonly message?: string }

/** One answer: a list of pieces, or a single text. */
export type ScriptedAnswer = string | readonly ScriptPiece[]

/** The answers in order, or a function that is called for each; `index` counts from 0. */
export type Script =
  | readonly ScriptedAnswer[]
  | ((request: ModelRequest, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>)

export interface ScriptedModelOptions {
  readonly provider?: string
  readonly modelId?: string
  /** Splits text, reasoning and arguments into deltas of this many characters. By default each is one delta. */
  readonly chunkSize?: number
}

/** A model that plays a script. */
export interface ScriptedModel extends Model {
  /** All requests so far, in order. */
  readonly requests: readonly ModelRequest[]
}

/**
 * A model for tests: it plays its script and fails with MODEL_ERROR when it is called more often than the script has
 * answers.
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
    splitIntoDeltas: (text: string) => splitBySize(text, chunkSize),
    nextCallId: () => `call-${++calls}`,
  }

  async function* play(request: ModelRequest): AsyncGenerator<AnswerPiece, void> {
    const { signal } = request
    signal.throwIfAborted()
    const index = requests.push(request) - 1
    const scripted = typeof script === 'function' ? script(request, index) : answerAt(index, script)
    const answer = await untilAborted(Promise.resolve(scripted), signal)
    for (const piece of typeof answer === 'string' ? [answer] : answer) {
      if (typeof piece === 'object' && 'wait' in piece)
        await untilAborted(startWait(piece.wait, signal), signal)
      else if (typeof piece === 'object' && 'error' in piece) throw toScriptedError(piece.error)
      else yield piece
    }
  }

  return {
    provider,
    modelId,
    requests,
    stream: (request) => writeAnswer(play(request), { ...options, signal: request.signal }),
  }
}

function answerAt(index: number, script: readonly ScriptedAnswer[]): ScriptedAnswer {
  const answer = script[index]
  if (answer !== undefined) return answer
  throw modelError(
    `scriptedModel was called ${index + 1} times, but its script has ${script.length} answers. Add one, or pass a function.`,
    { retryable: false },
  )
}

function startWait(wait: Extract<ScriptPiece, { wait: unknown }>['wait'], signal: AbortSignal) {
  return typeof wait === 'function' ? wait(signal) : wait
}

function toScriptedError(error: Error | ScriptedFailure): Error {
  if (error instanceof Error) return error
  const { message = 'A scripted failure.', ...failure } = error
  const retryable = failure.status === undefined || isRetryableStatus(failure.status)
  return modelError(message, { retryable, ...failure })
}

/** Splits between code points, so that no surrogate pair is torn apart. */
function splitBySize(text: string, size: number): string[] {
  if (text.length <= size) return text === '' ? [] : [text]
  const characters = Array.from(text)
  const count = Math.ceil(characters.length / size)
  return Array.from({ length: count }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(''),
  )
}
