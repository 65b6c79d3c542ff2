import type { Message } from '@ag-ui/core'
import type { Outcome } from '../../agents/index.js'
import { toWireError } from '../../core/errors.js'
import type {
  MessageChange,
  PendingToolCall,
  RunRecord,
  Thread,
  ThreadChange,
} from '../../threads/contract.js'
import { withRewrittenMark } from '../plan/edited-message.js'
import type { StateRulesHandle } from '../state/state-rules.js'

export interface ThreadChangeOptions {
  readonly thread: Thread | undefined
  readonly outcome: Outcome
  /** The messages that the run started with. */
  readonly started: readonly Message[]
  /** How many of these, from the first on, are stored. */
  readonly kept: number
  readonly clientTools: ReadonlySet<string>
  /** Calls that waited for the client's results before the run. */
  readonly pending: readonly PendingToolCall[]
  /** The checkpoint that the run has saved, if it did. */
  readonly saved: SavedCheckpoint | undefined
  readonly run: RunRecord
  readonly stateRules: StateRulesHandle
}

/** The part of a checkpoint that the server reads. */
export interface SavedCheckpoint {
  readonly openInterrupts: readonly { readonly interrupt: Thread['interrupts'][number] }[]
  readonly answered: readonly string[]
}

/** All that a run has changed in its thread, as one write. */
export function threadChange(options: ThreadChangeOptions): ThreadChange {
  const { thread, outcome, saved, run, stateRules } = options
  const checkpoint = saved === undefined ? thread?.checkpoint : trimCheckpoint(saved)
  const change = messageChange(options, outcome.messages)
  return {
    version: thread?.version ?? 0,
    ...change,
    append: withRewrittenMarks(change, options.started),
    state: stateRules.stored(outcome.state),
    interrupts: interruptsAfter(options),
    pendingToolCalls: pendingAfter(options, change),
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(thread === undefined || thread.title === '' ? { title: titleFor(outcome.messages) } : {}),
    run,
  }
}

/** The error in the record of a run. */
export function runError(outcome: Outcome): Pick<RunRecord, 'error'> {
  return outcome.type === 'failed' ? { error: toWireError(outcome.error) } : {}
}

/**
 * The change that a run makes to the stored messages. Compares by identity: messages are never changed in place, and a run
 * copies the ones it writes to.
 */
export function messageChange(
  { started, kept }: Pick<ThreadChangeOptions, 'started' | 'kept'>,
  after: readonly Message[],
): MessageChange {
  let keep = 0
  // Not the stored list itself: V8 is many times slower at going through the frozen lists of some stores.
  while (keep < kept && keep < after.length && started[keep] === after[keep]) keep++
  return { keep, append: after.slice(keep) }
}

/** Marks messages of users that the agent has rewritten: clients may still send their own version. */
function withRewrittenMarks(
  { keep, append }: MessageChange,
  started: readonly Message[],
): readonly Message[] {
  return append.map((message, index) => {
    const sent = started[keep + index]
    return sent === message || sent?.id !== message.id ? message : withRewrittenMark(message, sent)
  })
}

function interruptsAfter({ thread, outcome, saved }: ThreadChangeOptions): Thread['interrupts'] {
  if (outcome.type === 'interrupted') return outcome.interrupts
  if (outcome.type === 'completed') return []
  // A resumed run that saved nothing leaves its interrupts open.
  return saved?.openInterrupts.map(({ interrupt }) => interrupt) ?? thread?.interrupts ?? []
}

/** Calls of an earlier run stay pending when the user sends new messages: their results may still come. */
function pendingAfter(
  { pending, outcome, clientTools, run }: ThreadChangeOptions,
  { append }: MessageChange,
): readonly PendingToolCall[] {
  const timestamp = run.endedAt ?? run.startedAt
  const before = stillPending(pending, outcome.messages)
  const known = new Set(before.map(({ id }) => id))
  const made =
    outcome.type === 'completed'
      ? outcome.pendingToolCalls.map(({ id, function: { name } }) => ({ id, name, timestamp }))
      : pendingClientCalls(append, { clientTools, before: [], timestamp })
  return [...before, ...made.filter(({ id }) => !known.has(id))]
}

/** Leaves out calls that have a result or are in no message any more. */
export function stillPending(
  calls: readonly PendingToolCall[],
  messages: readonly Message[],
): readonly PendingToolCall[] {
  if (calls.length === 0) return calls
  const answered = callsWithResult(messages)
  return calls.filter(({ id }) => !answered.has(id) && isCalledIn(messages, id))
}

function isCalledIn(messages: readonly Message[], toolCallId: string): boolean {
  return messages.some(
    (one) => one.role === 'assistant' && one.toolCalls?.some(({ id }) => id === toolCallId),
  )
}

export interface PendingCallsOptions {
  readonly clientTools: ReadonlySet<string>
  /** The calls that were pending before. */
  readonly before: readonly PendingToolCall[]
  /** The time of those that the messages add. */
  readonly timestamp: number
}

/** The calls that wait for the client's result after a run has added these messages. */
export function pendingClientCalls(
  added: readonly Message[],
  { clientTools, before, timestamp }: PendingCallsOptions,
): readonly PendingToolCall[] {
  const answered = callsWithResult(added)
  const calls = added.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  const made = calls.map(({ id, function: { name } }) => ({ id, name, timestamp }))
  return [...before, ...made.filter(({ name }) => clientTools.has(name))].filter(
    ({ id }) => !answered.has(id),
  )
}

/** The ids of the calls that have their result in these messages. */
export function callsWithResult(messages: readonly Message[]): ReadonlySet<string> {
  return new Set(messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])))
}

const maxAnswered = 200

/** Without open interrupts, only the answered ones are kept: answering once more must do nothing. */
function trimCheckpoint(saved: SavedCheckpoint): unknown {
  if (saved.openInterrupts.length > 0) return saved
  return { ...saved, messages: [], state: {}, answered: saved.answered.slice(-maxAnswered) }
}

const maxTitle = 80

/** The beginning of the first user message. */
export function titleFor(messages: readonly Message[]): string {
  const first = messages.find(({ role }) => role === 'user')
  const content = first?.role === 'user' ? first.content : ''
  const text =
    typeof content === 'string'
      ? content
      : content.map((part) => (part.type === 'text' ? part.text : '')).join(' ')
  const line = text.replace(/\s+/gu, ' ').trim()
  return line.length <= maxTitle ? line : `${line.slice(0, maxTitle - 1).replace(/\p{Surrogate}$/u, '')}…`
}
