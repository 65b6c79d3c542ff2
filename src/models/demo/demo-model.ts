import { delay } from '../../core/abort.js'
import { systemClock, type Clock } from '../../core/clock.js'
import { randomIds, type IdSource } from '../../core/ids.js'
import type { Model, ModelRequest } from '../model.js'
import type { AnswerPiece } from '../written/answer-piece.js'
import { writeAnswer } from '../written/write-answer.js'
import { answerOf } from './rules.js'
import { readSituation } from './situation.js'

export interface DemoModelOptions {
  /** Milliseconds between words, so that one sees them stream. Default 20; 0 for no pause. */
  readonly paceMs?: number
  readonly clock?: Clock
  /** Gives the ids of tool calls. */
  readonly ids?: IdSource
}

/**
 * A model that needs no key and no network, to see an application at work before there is a real one. It follows a few
 * rules: it thinks aloud, calls the tool whose words the user uses, tells its result, fills in schemas, and makes small
 * talk. But for the ids of tool calls, the same request gets the same answer.
 */
export function demoModel({
  paceMs = 20,
  clock = systemClock,
  ids = randomIds,
}: DemoModelOptions = {}): Model {
  const options = { provider: 'demo', modelId: 'demo', cut: cutByWord, nextCallId: () => ids('call') }
  return {
    provider: options.provider,
    modelId: options.modelId,
    stream(request) {
      const { signal } = request
      const pause = () => delay(paceMs, { clock, signal })
      return writeAnswer(say(request), { ...options, signal, ...(paceMs > 0 && { pause }) })
    },
  }
}

function* say(request: ModelRequest): Generator<AnswerPiece, void> {
  yield* answerOf(readSituation(request))
}

/** Long words, and JSON without spaces, are cut too. */
function cutByWord(text: string): readonly string[] {
  return text.match(/\s*\S{1,12}\s*/gu) ?? []
}
