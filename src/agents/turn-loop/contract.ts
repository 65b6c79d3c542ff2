import type { Interrupt, Message, ResumeEntry, ToolCall } from '@ag-ui/core'
import type { AgUiEvent } from '../../protocol/index.js'
import type { SafePoint } from '../contract.js'
import type { Outcome, RunFields, RunOptions } from '../run/run.js'
import type { SavedTurnLoop } from './saved-loop.js'

/** A conversation that takes messages at any time, and runs an agent turn by turn. */
export interface TurnLoop {
  readonly threadId: string
  readonly status: TurnLoopStatus
  /** The conversation after the last turn. */
  readonly messages: readonly Message[]
  readonly state: unknown
  /** Interrupts without an answer. */
  readonly openInterrupts: readonly Interrupt[]
  /** Calls to client tools without a result. Push the results. */
  readonly pendingToolCalls: readonly ToolCall[]
  /** Pushed messages that are not part of a turn yet. */
  readonly unhandled: readonly Message[]
  /** The outcome of the last turn. */
  readonly outcome: Outcome | undefined
  /**
   * The events of all turns, one valid run after the other, until the loop is stopped. Can be read once. A slow reader
   * applies back-pressure; one that stops early stops the loop. Reading is optional for callers of `idle` or `stop`:
   * events beyond the buffer are then dropped.
   */
  readonly events: AsyncIterable<AgUiEvent>
  /**
   * Adds to the conversation, and starts a turn if none is running. Leaves out messages with a known id, and second
   * results of a call. Throws RUN_CLOSED if the loop was stopped, NO_TOOL_RESULTS for the result of an unknown call,
   * INVALID_INPUT for anything but messages; nothing is added then.
   */
  push(messages: PushedMessages, options?: PushOptions): void
  /**
   * Answers open interrupts and resumes the turn; interrupts without an answer are raised again. Throws INVALID_RESUME
   * if no entry answers an open one, RUN_CLOSED if the loop was stopped.
   */
  answer(entries: readonly ResumeEntry[]): void
  /** Resolves when there is nothing to do: all is done, the loop waits for the client, or it was stopped. */
  idle(): Promise<void>
  /**
   * Ends the loop: it takes no more messages and starts no more turns. Resolves when no turn is running. Call it again to
   * stop sooner. Unfinished work is in `unhandled` and `save()`.
   */
  stop(options?: StopOptions): Promise<void>
  /**
   * All that is needed to resume, even in another process, including open interrupts, unhandled messages and a stopped
   * turn. A running turn is saved as it began, and would run again. Throws ENCODING_ERROR if the state is not JSON.
   */
  save(): SavedTurnLoop
}

/** `waiting`: the client must answer `openInterrupts`, or push results of `pendingToolCalls`. */
export type TurnLoopStatus = 'idle' | 'running' | 'waiting' | 'stopped'

/** The options of every turn, and the beginning of the conversation. */
export interface TurnLoopOptions
  extends
    Omit<RunOptions, 'checkpoint' | 'checkpoints'>,
    Pick<RunFields, 'threadId' | 'messages' | 'state' | 'tools' | 'context' | 'forwardedProps'> {
  /** The JSON of `save`. The loop continues by itself, with the saved thread, messages and state. */
  readonly saved?: unknown
}

/** A text of the user, or messages. Results of client tools are messages too. */
export type PushedMessages = string | Message | readonly Message[]

export interface PushOptions {
  /** Default: `queue`. */
  readonly mode?: PushMode
  /** Cancels the running turn if it has not stopped after this time. Applies to that turn only. */
  readonly timeoutMs?: number
}

/**
 * The effect of a message on a running turn:
 *
 * - `queue`: none. The message is part of the next turn, with all others that wait.
 * - `preempt`: the turn stops after the model has answered, or after the running tools. Tool calls that have not begun
 *   are not carried out.
 * - `after-tools`: the turn stops after the model's tool calls, so that the model reads their results and the message
 *   together.
 * - `now`: the turn is cancelled at once.
 *
 * A turn that waits for the client counts as running. `preempt` and `now` abandon it; the other two wait with it.
 */
export type PushMode = 'queue' | 'preempt' | 'after-tools' | 'now'

export interface StopOptions {
  /** At the end of the running turn (default), at one of its safe points, or at once. */
  readonly at?: 'end' | SafePoint | 'now'
  /** Cancels the running turn if it has not stopped after this time. */
  readonly timeoutMs?: number
}
