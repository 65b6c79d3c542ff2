import { delay } from '../../core/abort.js'
import { systemClock, type Clock } from '../../core/clock.js'
import { randomIds, type IdSource } from '../../core/ids.js'
import type { Model, ModelRequest } from '../contract.js'
import { writeAnswer, type AnswerPiece } from '../write-answer.js'
import { answerExchange } from './answer.js'
import { readLatestExchange } from './latest-exchange.js'

export interface DemoModelOptions {
  /** Milliseconds between words, to make streaming visible. Default 20; 0 for no delay. */
  readonly paceMs?: number
  readonly clock?: Clock
  /** Generates the ids of tool calls. */
  readonly ids?: IdSource
}

/**
 * A model that needs neither a key nor a network, to try an application before there is a real one. It follows a few
 * rules: it calls the tool whose words the user uses, reports the result, fills in schemas, and makes small talk, with
 * some reasoning. Except for the ids of tool calls, the same request gets the same answer.
 */
export function demoModel({
  paceMs = 20,
  clock = systemClock,
  ids = randomIds,
}: DemoModelOptions = {}): Model {
  const options = {
    provider: 'demo',
    modelId: 'demo',
    splitIntoDeltas: splitByWord,
    nextCallId: () => ids('call'),
  }
  return {
    provider: options.provider,
    modelId: options.modelId,
    stream(request) {
      const { signal } = request
      const beforeDelta = () => delay(paceMs, { clock, signal })
      return writeAnswer(generateAnswer(request), { ...options, signal, ...(paceMs > 0 && { beforeDelta }) })
    },
  }
}

/** A generator, so that nothing happens before the first `next()`. */
function* generateAnswer(request: ModelRequest): Generator<AnswerPiece, void> {
  yield* answerExchange(readLatestExchange(request))
}

/** Splits long words too, and JSON without spaces. */
function splitByWord(text: string): readonly string[] {
  return text.match(/\s*\S{1,12}\s*/gu) ?? []
}
