import { randomIds, type IdSource } from '../../core/ids.js'
import type { Agent } from '../contract.js'
import { createRunBuffer } from '../run/run-buffer.js'
import type { Loop } from './engine.js'
import type { Held } from './held.js'
import { stop } from './requests.js'
import { parseLoop } from './saved.js'
import type { TurnLoopOptions } from './turn-loop.js'

/** A loop at its beginning: nothing has been started yet. Throws INVALID_CHECKPOINT when `saved` cannot be read. */
export function openLoop(agent: Agent, options: TurnLoopOptions): Loop {
  const { saved, signal, newId = randomIds, bufferSize = 256 } = options
  const start = saved === undefined || saved === null ? afresh(options, newId) : parseLoop(saved)
  const stopNow = (): void => void stop(loop, { at: 'now' })
  const loop: Loop = {
    agent,
    options,
    newId,
    ...start,
    buffer: createRunBuffer({ capacity: bufferSize, onAbandoned: stopNow }),
    waiting: [],
    release: () => signal?.removeEventListener('abort', stopNow),
    turn: undefined,
    outcome: undefined,
    isStopping: false,
  }
  if (signal?.aborted === true) stopNow()
  else signal?.addEventListener('abort', stopNow, { once: true })
  return loop
}

function afresh({ threadId, messages = [], state = {} }: TurnLoopOptions, newId: IdSource) {
  const nothing = { queue: [], answers: [], checkpoint: undefined, pendingToolCallIds: [], isCutOff: false }
  const held: Held = { messages, state, ...nothing }
  return { threadId: threadId ?? newId('thread'), held }
}
