import type { Outcome } from '../../agents/index.js'
import { toWireError } from '../../core/errors.js'
import type { RunRecord, Thread, ThreadChange } from '../../threads/contract.js'
import type { StateRulesHandle } from '../state/state-rules.js'
import { messageTail, openClientCalls, titleOf } from './message-tail.js'

export interface EndedRun {
  readonly thread: Thread | undefined
  readonly outcome: Outcome
  readonly clientTools: ReadonlySet<string>
  /** What the run has saved to be gone on from, if it did. */
  readonly saved: SavedCheckpoint | undefined
  readonly run: RunRecord
  readonly stateRules: StateRulesHandle
}

/** The part of a checkpoint that is the server's business. */
export interface SavedCheckpoint {
  readonly openInterrupts: readonly { readonly interrupt: Thread['interrupts'][number] }[]
  readonly answered: readonly string[]
}

/** All that a run has changed, as one write. */
export function threadChange(ended: EndedRun): ThreadChange {
  const { thread, outcome, saved, stateRules } = ended
  const before = thread?.messages ?? []
  const checkpoint = saved === undefined ? thread?.checkpoint : trimmed(saved)
  return {
    version: thread?.version ?? 0,
    ...messageTail(before, outcome.messages),
    state: stateRules.stored(outcome.state),
    interrupts: interruptsAfter(ended),
    pendingToolCalls: pendingAfter(ended),
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(thread === undefined || thread.title === '' ? { title: titleOf(outcome.messages) } : {}),
    run: ended.run,
  }
}

/** What the record of a run says of its failure. */
export function runError(outcome: Outcome): Pick<RunRecord, 'error'> {
  return outcome.type === 'failed' ? { error: toWireError(outcome.error) } : {}
}

function interruptsAfter({ thread, outcome, saved }: EndedRun): Thread['interrupts'] {
  if (outcome.type === 'interrupted') return outcome.interrupts
  if (outcome.type === 'completed') return []
  // A resumed run that came to nothing: its questions are still open.
  return saved?.openInterrupts.map(({ interrupt }) => interrupt) ?? thread?.interrupts ?? []
}

/** Calls of an earlier run stay open when the user goes on talking: their results may still come. */
function pendingAfter(ended: EndedRun): Thread['pendingToolCalls'] {
  const before = stillOpen(ended.thread?.pendingToolCalls ?? [], ended.outcome.messages)
  const known = new Set(before.map(({ id }) => id))
  return [...before, ...pendingOf(ended).filter(({ id }) => !known.has(id))]
}

function pendingOf({ thread, outcome, clientTools }: EndedRun): Thread['pendingToolCalls'] {
  if (outcome.type === 'completed')
    return outcome.pendingToolCalls.map(({ id, function: { name } }) => ({ id, name }))
  const { append } = messageTail(thread?.messages ?? [], outcome.messages)
  return openClientCalls(append, { clientTools, before: [] })
}

/** Those that were neither answered nor cut off. */
export function stillOpen(
  calls: Thread['pendingToolCalls'],
  messages: Thread['messages'],
): Thread['pendingToolCalls'] {
  if (calls.length === 0) return calls
  const answered = new Set(messages.flatMap((one) => (one.role === 'tool' ? [one.toolCallId] : [])))
  return calls.filter(({ id }) => !answered.has(id) && isCalledIn(messages, id))
}

function isCalledIn(messages: Thread['messages'], toolCallId: string): boolean {
  return messages.some(
    (one) => one.role === 'assistant' && one.toolCalls?.some(({ id }) => id === toolCallId),
  )
}

const answersKept = 200

/** When nothing is left to answer, only what was answered is kept: answering once more must do nothing. */
export function trimmed(saved: SavedCheckpoint): unknown {
  if (saved.openInterrupts.length > 0) return saved
  return { ...saved, messages: [], state: {}, answered: saved.answered.slice(-answersKept) }
}
