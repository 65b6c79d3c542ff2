import type { Interrupt, Message, ResumeEntry, ToolCall } from '@ag-ui/core'
import type { AgUiEvent } from '../../protocol/index.js'
import type { Agent, SafePoint } from '../contract.js'
import type { Outcome, RunOptions } from '../run/run.js'
import type { RunFields } from '../run/run-request.js'
import { advance, isAtWork, whenAtRest } from './engine.js'
import { pendingCallsOf, questionsOf } from './held.js'
import { openLoop } from './open-loop.js'
import type { Pushed } from './pushed.js'
import { answer, push, stop } from './requests.js'
import { sealLoop, type SavedTurnLoop } from './saved.js'

/** What every turn is run with, and where the conversation begins. */
export interface TurnLoopOptions
  extends
    Omit<RunOptions, 'checkpoint' | 'checkpoints'>,
    Pick<RunFields, 'threadId' | 'messages' | 'state' | 'tools' | 'context' | 'forwardedProps'> {
  /** What `save` gave, as JSON: the loop goes on from there by itself. Then thread, messages and state are its own. */
  readonly saved?: unknown
}

/**
 * What a message does to a turn at work:
 *
 * - `queue`: nothing. It is part of the next turn, with all others that wait.
 * - `preempt`: the turn stops when the model has answered, or the tools at work have run. Calls that were not begun are
 *   not carried out.
 * - `after-tools`: the turn stops when the tools that the model calls have run, so that the model reads their results
 *   and the message together.
 * - `now`: the turn is cut off.
 *
 * A turn that waits for the client is still at work. `preempt` and `now` give it up; the other two wait with it.
 */
export type PushMode = 'queue' | 'preempt' | 'after-tools' | 'now'

export interface PushOptions {
  /** Default: `queue`. */
  readonly mode?: PushMode
  /** A turn that has not stopped by then is cut off. It counts for the turn that is at work now, and for no other. */
  readonly timeoutMs?: number
}

export interface StopOptions {
  /** At the end of the turn at work (default), at a safe point of it, or at once. */
  readonly at?: 'end' | SafePoint | 'now'
  /** A turn that has not stopped by then is cut off. */
  readonly timeoutMs?: number
}

/** `waiting` is for the client: for answers to `questions`, or results of `pendingToolCalls`. */
export type TurnLoopStatus = 'idle' | 'running' | 'waiting' | 'stopped'

/** A conversation in which messages may come at any time. */
export interface TurnLoop {
  readonly threadId: string
  readonly status: TurnLoopStatus
  /** The conversation as the last turn left it. */
  readonly messages: readonly Message[]
  readonly state: unknown
  /** What was asked and has no answer yet. */
  readonly questions: readonly Interrupt[]
  /** Calls to the client's tools that have no result yet. Push the results. */
  readonly pendingToolCalls: readonly ToolCall[]
  /** What was pushed and is part of no turn yet. */
  readonly unhandled: readonly Message[]
  /** How the last turn ended. */
  readonly outcome: Outcome | undefined
  /**
   * The events of all turns, one valid run after the other, until the loop is stopped. Can be read once. A slow reader
   * holds the loop back; one that stops early stops it. Who awaits `idle` or `stop` need not read: then events
   * beyond the buffer are dropped.
   */
  readonly events: AsyncIterable<AgUiEvent>
  /**
   * Adds to the conversation. Starts a turn when none is at work. Messages whose id is known, and second results of a
   * call, are left out. Throws RUN_CLOSED when the loop was stopped, NO_TOOL_RESULTS for the result of a call that was
   * never made, INVALID_INPUT for what is no message; then nothing is added.
   */
  push(message: Pushed, options?: PushOptions): void
  /**
   * Answers open questions, and the turn goes on; questions left out are asked again. Throws INVALID_RESUME when there is
   * no such question, RUN_CLOSED when the loop was stopped.
   */
  answer(entries: readonly ResumeEntry[]): void
  /** Resolves when there is nothing to do: all is done, the client has to do something first, or the loop was stopped. */
  idle(): Promise<void>
  /**
   * Ends the loop: from now on it takes nothing and starts no turn. Resolves when no turn is at work. Call it again to
   * stop sooner. What was not done is in `unhandled` and `save()`.
   */
  stop(options?: StopOptions): Promise<void>
  /**
   * All that is needed to go on, in another process too: with open questions, unhandled messages and a turn that was
   * stopped. A turn that is at work now is saved as it began, and would be run again. Throws ENCODING_ERROR when the
   * state is not JSON.
   */
  save(): SavedTurnLoop
}

/**
 * Makes a loop that runs an agent turn by turn, and takes messages at any time, also while a turn is at work.
 * Conversation, state and open questions are carried from turn to turn. A turn that fails ends with RUN_ERROR; the loop
 * lives on. Throws INVALID_CHECKPOINT when `saved` cannot be read.
 *
 * @example
 * const loop = createTurnLoop(agent)
 * loop.push('Plan a trip to Oslo.')
 * loop.push('No, to Bergen!', { mode: 'after-tools' })
 * for await (const event of loop.events) show(event)
 */
export function createTurnLoop(agent: Agent, options: TurnLoopOptions = {}): TurnLoop {
  const loop = openLoop(agent, options)
  advance(loop)
  return {
    threadId: loop.threadId,
    get status() {
      if (isAtWork(loop)) return 'running'
      if (loop.isStopping) return 'stopped'
      return questionsOf(loop.held).length > 0 || pendingCallsOf(loop.held).length > 0 ? 'waiting' : 'idle'
    },
    get messages() {
      return loop.held.messages
    },
    get state() {
      return loop.held.state
    },
    get questions() {
      return questionsOf(loop.held)
    },
    get pendingToolCalls() {
      return pendingCallsOf(loop.held)
    },
    get unhandled() {
      return loop.held.queue
    },
    get outcome() {
      return loop.outcome
    },
    events: { [Symbol.asyncIterator]: () => loop.buffer.read() },
    push: (message, how) => push(loop, message, how),
    answer: (entries) => answer(loop, entries),
    idle: () => whenAtRest(loop),
    stop: (how) => stop(loop, how),
    save() {
      const { held, turn, threadId } = loop
      if (!turn || turn.isOver) return sealLoop(threadId, held)
      return sealLoop(threadId, { ...turn.before, queue: [...turn.taken, ...held.queue] })
    },
  }
}
