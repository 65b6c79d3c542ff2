import type { Interrupt, Message, ResumeEntry, ToolCall, ToolMessage } from '@ag-ui/core'
import type { Checkpoint } from '../interrupts/checkpoint.js'
import type { Outcome, RunFields } from '../run/run.js'

/** The state of a loop from turn to turn. JSON; replaced, never mutated. */
export interface TurnLoopState {
  /** The conversation after the last turn. */
  readonly messages: readonly Message[]
  readonly state: unknown
  /** Pushed messages that are not part of a turn yet. */
  readonly queue: readonly Message[]
  /** Answers for the next turn, including those of a turn that was cut off. */
  readonly answers: readonly ResumeEntry[]
  /** Of the last turn, if it is interrupted or was cut off. */
  readonly checkpoint: Checkpoint | undefined
  /** Client tool calls of the last turn. */
  readonly pendingToolCallIds: readonly string[]
  /** Whether the last turn was stopped together with the loop. It is resumed before anything else. */
  readonly isCutOff: boolean
}

export function initialState({ messages = [], state = {} }: RunFields): TurnLoopState {
  const queue: readonly Message[] = []
  return {
    messages,
    state,
    queue,
    answers: [],
    checkpoint: undefined,
    pendingToolCallIds: [],
    isCutOff: false,
  }
}

export function openInterruptsOf({ checkpoint, isCutOff }: TurnLoopState): readonly Interrupt[] {
  return isCutOff || !checkpoint ? [] : checkpoint.openInterrupts.map(({ interrupt }) => interrupt)
}

/** The client tool calls without a result in the queue. */
export function pendingToolCallsOf(state: TurnLoopState): readonly ToolCall[] {
  const missing = missingResults(state)
  if (missing.size === 0) return []
  const calls = state.messages.flatMap((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []) : [],
  )
  return calls.filter(({ id }) => missing.has(id))
}

function missingResults({ pendingToolCallIds, queue }: TurnLoopState): ReadonlySet<string> {
  const missing = new Set(pendingToolCallIds)
  for (const message of queue) if (message.role === 'tool') missing.delete(message.toolCallId)
  return missing
}

export interface NextTurn {
  /** The messages that it takes from the queue. */
  readonly queued: readonly Message[]
  readonly input: Pick<RunFields, 'messages' | 'resume'>
}

/** Undefined if there is nothing to do, or the client must act first. */
export function planNextTurn(state: TurnLoopState): NextTurn | undefined {
  const { messages, queue, answers, checkpoint } = state
  // Without messages the run resumes; without a checkpoint it starts again.
  if (state.isCutOff) return { queued: [], input: checkpoint ? { resume: answers } : { messages } }
  // The result of a call that was pushed too stays behind that call.
  const results = queue.filter((message) => message.role === 'tool' && !hasCall(queue, message.toolCallId))
  if (answers.length > 0)
    return { queued: results, input: { messages: insertMessages(messages, results), resume: answers } }
  if (openInterruptsOf(state).length > 0 || missingResults(state).size > 0) return undefined
  // Only the results: with other new messages the turn would not resume, but start afresh.
  const queued = state.pendingToolCallIds.length > 0 ? results : queue
  return queued.length > 0 ? { queued, input: { messages: insertMessages(messages, queued) } } : undefined
}

/** The state while a turn runs. */
export function stateDuringTurn(state: TurnLoopState, { queued }: NextTurn): TurnLoopState {
  const taken = new Set(queued)
  return abandonTurn({ ...state, queue: state.queue.filter((message) => !taken.has(message)) })
}

export interface EndedTurn {
  /** The state when it began. */
  readonly before: TurnLoopState
  /** Whether a push has stopped it. It is not resumed then. */
  readonly isPreempted: boolean
  /** Whether it ends even if it would wait for the client. */
  readonly isAbandoned: boolean
  /** Whether it was stopped together with the loop. */
  readonly isStopped: boolean
}

/** The state after a turn. `state` is the one during the turn, with the messages that were pushed meanwhile. */
export function stateAfterTurn(state: TurnLoopState, turn: EndedTurn, outcome: Outcome): TurnLoopState {
  const { messages } = outcome
  // The turn may have got a result by itself.
  const queue = state.queue.filter(
    (message) => message.role !== 'tool' || !hasResult(messages, message.toolCallId),
  )
  const next: TurnLoopState = { ...state, messages, state: outcome.state, queue }
  if (turn.isAbandoned) return next
  const { answers, checkpoint: before } = turn.before
  // Answers that did not count, for example because they did not fit, leave the interrupts open.
  const checkpoint = outcome.checkpoint ?? (answers.length > 0 ? before : undefined)
  switch (outcome.type) {
    case 'completed': {
      const pendingToolCallIds = outcome.pendingToolCalls.map(({ id }) => id)
      return { ...next, checkpoint: outcome.checkpoint, pendingToolCallIds }
    }
    case 'interrupted':
    case 'failed':
      return { ...next, checkpoint }
    case 'cancelled':
      if (turn.isPreempted || !turn.isStopped) return next
      return { ...next, checkpoint, answers, isCutOff: true }
  }
}

/** The last turn neither waits for the client nor is resumed. */
export function abandonTurn(state: TurnLoopState): TurnLoopState {
  return { ...state, answers: [], checkpoint: undefined, pendingToolCallIds: [], isCutOff: false }
}

export function hasResult(messages: readonly Message[], toolCallId: string): boolean {
  return messages.some((message) => message.role === 'tool' && message.toolCallId === toolCallId)
}

export function hasCall(messages: readonly Message[], toolCallId: string): boolean {
  return messages.some((message) => makesCall(message, toolCallId))
}

/** Appends messages; tool results go right behind their calls. */
function insertMessages(messages: readonly Message[], added: readonly Message[]): readonly Message[] {
  const all = [...messages]
  for (const message of added) {
    if (message.role === 'tool') all.splice(findResultPosition(all, message), 0, message)
    else all.push(message)
  }
  return all
}

function findResultPosition(messages: readonly Message[], { toolCallId }: ToolMessage): number {
  const caller = messages.findLastIndex((message) => makesCall(message, toolCallId))
  if (caller === -1) return messages.length
  const next = messages.findIndex(({ role }, position) => position > caller && role !== 'tool')
  return next === -1 ? messages.length : next
}

function makesCall(message: Message, toolCallId: string): boolean {
  return message.role === 'assistant' && message.toolCalls?.some(({ id }) => id === toolCallId) === true
}
