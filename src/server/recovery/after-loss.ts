import type { Message } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'
import type { RunStart, Thread, ThreadChange } from '../../threads/contract.js'
import type { StateRulesHandle } from '../state/state-rules.js'
import { trimmed, type SavedCheckpoint } from '../run/thread-change.js'

export interface Loss {
  readonly thread: Thread | undefined
  readonly start: RunStart
  /** The messages it began with. */
  readonly begun: readonly Message[]
  /** What its log makes of them, and of the state. */
  readonly ended: { readonly messages: readonly Message[]; readonly state: unknown }
  readonly stateRules: StateRulesHandle
}

interface Left extends Pick<ThreadChange, 'state' | 'interrupts' | 'checkpoint'> {
  readonly messages: readonly Message[]
}

/**
 * What a lost run leaves in its thread: all that its log has. Where its agents stood is lost with it, so a run that was
 * answering questions is only kept when each call that asked has its result. Else the thread is as before the answers,
 * for them to be given again: old positions of the agents beside new messages would be neither the one nor the other.
 */
export function afterLoss({ thread, start, begun, ended, stateRules }: Loss): Left {
  const { interrupts = [], checkpoint } = thread ?? {}
  const state = withPrivate(start.state, ended.state, stateRules)
  if (isCarriedOut(interrupts, { begun, ended }))
    return { messages: ended.messages, state, interrupts: [], ...withAnswered(checkpoint, interrupts) }
  const open = { interrupts, ...(checkpoint === undefined ? {} : { checkpoint }) }
  if (interrupts.length === 0 || start.isAnswering !== true)
    return { messages: ended.messages, state, ...open }
  // The record may have a later private part than that of the thread.
  const before = withPrivate(thread?.state, stateRules.visible(start.state), stateRules)
  return { messages: begun, state: before, ...open }
}

function isCarriedOut(
  interrupts: Thread['interrupts'],
  { begun, ended }: Pick<Loss, 'begun' | 'ended'>,
): boolean {
  if (interrupts.length === 0) return false
  const known = new Set(begun.map(({ id }) => id))
  const results = new Set(
    ended.messages.flatMap((one) => (one.role === 'tool' && !known.has(one.id) ? [one.toolCallId] : [])),
  )
  return interrupts.every(({ toolCallId }) => toolCallId !== undefined && results.has(toolCallId))
}

/** Nothing is left to go on with. What was answered is kept, so that answering once more does nothing. */
function withAnswered(checkpoint: unknown, interrupts: Thread['interrupts']): { checkpoint?: unknown } {
  if (!isSaved(checkpoint)) return {}
  const answered = [...checkpoint.answered, ...interrupts.map(({ id }) => id)]
  const over = { ...checkpoint, openInterrupts: [], frames: {}, values: {}, answered }
  return { checkpoint: trimmed(over) }
}

function isSaved(checkpoint: unknown): checkpoint is SavedCheckpoint {
  return (
    isRecord(checkpoint) && Array.isArray(checkpoint.openInterrupts) && Array.isArray(checkpoint.answered)
  )
}

/** The log has only what clients may see. */
function withPrivate(before: unknown, shown: unknown, { isPrivate }: StateRulesHandle): unknown {
  if (!isRecord(before) || !isRecord(shown)) return shown
  const hidden = Object.entries(before).filter(([key]) => isPrivate(key))
  return hidden.length === 0 ? shown : { ...shown, ...Object.fromEntries(hidden) }
}
