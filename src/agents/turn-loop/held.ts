import type { Interrupt, Message, ResumeEntry, ToolCall } from '@ag-ui/core'
import type { Checkpoint } from '../interrupts/checkpoint.js'
import type { Outcome } from '../run/run.js'
import type { RunFields } from '../run/run-request.js'
import { hasResult, withPushed } from './pushed.js'

/** What a loop carries from turn to turn. JSON. Never changed, only replaced. */
export interface Held {
  /** The conversation as the last turn left it. */
  readonly messages: readonly Message[]
  readonly state: unknown
  /** Pushed, and not part of a turn yet. */
  readonly queue: readonly Message[]
  /** Given, and not part of a turn yet; those of a turn that was cut off, to be given again. */
  readonly answers: readonly ResumeEntry[]
  /** Where the last turn waits, or was cut off. */
  readonly checkpoint: Checkpoint | undefined
  /** Calls that the last turn has left to the client. */
  readonly pendingToolCallIds: readonly string[]
  /** Whether the last turn was stopped together with the loop: then it goes on before anything else. */
  readonly isCutOff: boolean
}

/** What the next turn is run with. */
export interface TurnPlan {
  /** The part of the queue that it takes. */
  readonly taken: readonly Message[]
  readonly fields: Pick<RunFields, 'messages' | 'resume'>
}

/** A turn, as far as it matters for what comes after it. */
export interface TurnTaken {
  /** What was held when it began. */
  readonly before: Held
  /** Whether a push has asked it to stop: then it does not go on. */
  readonly isPreempted: boolean
  /** Whether it is over even when it wants to wait for the client. */
  readonly isGivenUp: boolean
  /** Whether it was asked to stop together with the loop. */
  readonly isStopped: boolean
}

/** The questions that nobody has answered. */
export function questionsOf({ checkpoint, isCutOff }: Held): readonly Interrupt[] {
  return isCutOff || !checkpoint ? [] : checkpoint.openInterrupts.map(({ interrupt }) => interrupt)
}

/** The calls that are left to the client and have no result in the queue. */
export function pendingCallsOf(held: Held): readonly ToolCall[] {
  const missing = missingResults(held)
  if (missing.size === 0) return []
  const calls = held.messages.flatMap((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []) : [],
  )
  return calls.filter(({ id }) => missing.has(id))
}

function missingResults({ pendingToolCallIds, queue }: Held): ReadonlySet<string> {
  const missing = new Set(pendingToolCallIds)
  for (const message of queue) if (message.role === 'tool') missing.delete(message.toolCallId)
  return missing
}

/** What there is to do. Undefined when there is nothing, or the client has to do something first. */
export function nextTurn(held: Held): TurnPlan | undefined {
  const { messages, queue, answers, checkpoint } = held
  // Without messages the run goes on where it was; what cannot be gone on with is tried again.
  if (held.isCutOff) return { taken: [], fields: checkpoint ? { resume: answers } : { messages } }
  const results = queue.filter(({ role }) => role === 'tool')
  if (answers.length > 0)
    return { taken: results, fields: { messages: withPushed(messages, results), resume: answers } }
  if (questionsOf(held).length > 0 || missingResults(held).size > 0) return undefined
  // The results alone: a turn that hears something else does not go on, it starts afresh.
  const taken = held.pendingToolCallIds.length > 0 ? results : queue
  return taken.length > 0 ? { taken, fields: { messages: withPushed(messages, taken) } } : undefined
}

/** What is held while a turn is at work. */
export function duringTurn(held: Held, { taken }: TurnPlan): Held {
  const used = new Set(taken)
  return over({ ...held, queue: held.queue.filter((message) => !used.has(message)) })
}

/** What is held after a turn. `held` is what was held during it, with what was pushed meanwhile. */
export function afterTurn(held: Held, turn: TurnTaken, outcome: Outcome): Held {
  const { messages, state } = outcome
  // The turn may have come by a result itself.
  const queue = held.queue.filter(
    (message) => message.role !== 'tool' || !hasResult(messages, message.toolCallId),
  )
  const rest: Held = { ...held, messages, state, queue }
  if (turn.isGivenUp) return rest
  const { answers, checkpoint: before } = turn.before
  // Answers that came to nothing, because they did not fit for example, leave the questions open.
  const checkpoint = outcome.checkpoint ?? (answers.length > 0 ? before : undefined)
  switch (outcome.type) {
    case 'completed': {
      const pendingToolCallIds = outcome.pendingToolCalls.map(({ id }) => id)
      return { ...rest, checkpoint: outcome.checkpoint, pendingToolCallIds }
    }
    case 'interrupted':
    case 'failed':
      return { ...rest, checkpoint }
    case 'cancelled':
      if (turn.isPreempted || !turn.isStopped) return rest
      return { ...rest, checkpoint, answers, isCutOff: true }
  }
}

/** The same, with nothing left to wait for or to go on with. */
export function over(held: Held): Held {
  return { ...held, answers: [], checkpoint: undefined, pendingToolCallIds: [], isCutOff: false }
}
