import type { Message } from '@ag-ui/core'
import { isRecord } from '../../core/json.js'
import { cancelledMark, resumeRunStream, type AgUiEvent } from '../../protocol/index.js'
import type { LogEntry, RunRecord, RunStart, Thread, ThreadChange } from '../../threads/contract.js'
import { callsWithResult, trimCheckpoint, type SavedCheckpoint } from '../run/thread-change.js'
import type { StateRulesHandle } from '../state/state-rules.js'

/** Messages and state, as a client holds them. */
interface ThreadContent {
  readonly messages: readonly Message[]
  readonly state: unknown
}

export interface LostRun {
  readonly threadId: string
  readonly run: RunRecord
  readonly entries: readonly LogEntry[]
  /** The thread that the run started with. */
  readonly start: ThreadContent
  /** The error that ends the run. */
  readonly error: Error
  readonly onUnreadable: (error: unknown) => void
}

export interface ReplayedRun {
  /** The events that the log lacks to be a whole stream. */
  readonly lines: readonly string[]
  /** The thread that a client holds after these events. */
  readonly ended: ThreadContent
}

/** Replays the logged events and ends the run. */
export function replayLostRun({ threadId, run, entries, start, error, ...options }: LostRun): ReplayedRun {
  // Catch-up events may show the client messages that the thread does not have yet.
  const catchUp = run.start?.catchUp ?? 0
  const logged = entries.filter((_, position) => position === 0 || position > catchUp)
  const missing: AgUiEvent[] = []
  const stream = resumeRunStream({
    ...start,
    threadId,
    runId: run.runId,
    events: logged.map(({ json }) => JSON.parse(json) as AgUiEvent),
    emit: (event) => missing.push(event),
    // A hook may have changed what is logged. One odd event must not make the thread useless.
    onUnreadable: options.onUnreadable,
  })
  stream.fail(error, { mark: cancelledMark })
  return { lines: missing.map((event) => JSON.stringify(event)), ended: stream.fold }
}

export interface Loss {
  readonly thread: Thread | undefined
  readonly start: RunStart
  /** The messages that the run started with. */
  readonly startMessages: readonly Message[]
  /** Messages and state after the logged events. */
  readonly ended: ThreadContent
  readonly stateRules: StateRulesHandle
}

interface RecoveredContent extends ThreadContent, Pick<ThreadChange, 'interrupts' | 'checkpoint'> {}

/**
 * The thread after a lost run: all that its log has. The checkpoints of its agents are lost, so a run that was resumed
 * only counts when each interrupted call has its result. Else the thread is as before the answers, which can be sent
 * again: old checkpoints beside new messages would be neither.
 */
export function recoveredContent({
  thread,
  start,
  startMessages,
  ended,
  stateRules,
}: Loss): RecoveredContent {
  const { interrupts = [], checkpoint } = thread ?? {}
  const { messages } = ended
  const state = withPrivatePart(ended.state, start.state, stateRules)
  if (interrupts.length > 0 && haveResults(interrupts, { startMessages, ended }))
    return { messages, state, interrupts: [], ...closeCheckpoint(checkpoint, interrupts) }
  const open = { interrupts, ...(checkpoint === undefined ? {} : { checkpoint }) }
  if (interrupts.length === 0 || start.isAnswering !== true) return { messages, state, ...open }
  // The run may have changed the private part of its record.
  const before = withPrivatePart(stateRules.visible(start.state), thread?.state, stateRules)
  return { messages: startMessages, state: before, ...open }
}

/** Whether the run has added the results of all calls that were interrupted. */
function haveResults(
  interrupts: Thread['interrupts'],
  { startMessages, ended }: Pick<Loss, 'startMessages' | 'ended'>,
): boolean {
  const known = new Set(startMessages.map(({ id }) => id))
  const results = callsWithResult(ended.messages.filter(({ id }) => !known.has(id)))
  return interrupts.every(({ toolCallId }) => toolCallId !== undefined && results.has(toolCallId))
}

/** The answered interrupts are kept, so that answering once more does nothing. There is nothing left to resume. */
function closeCheckpoint(checkpoint: unknown, interrupts: Thread['interrupts']): { checkpoint?: unknown } {
  if (!isSavedCheckpoint(checkpoint)) return {}
  const answered = [...checkpoint.answered, ...interrupts.map(({ id }) => id)]
  const closed = { ...checkpoint, openInterrupts: [], frames: {}, values: {}, answered }
  return { checkpoint: trimCheckpoint(closed) }
}

function isSavedCheckpoint(checkpoint: unknown): checkpoint is SavedCheckpoint {
  return (
    isRecord(checkpoint) && Array.isArray(checkpoint.openInterrupts) && Array.isArray(checkpoint.answered)
  )
}

/** The log has only the visible part of the state. */
function withPrivatePart(visible: unknown, full: unknown, { privatePart }: StateRulesHandle): unknown {
  return isRecord(visible) ? { ...visible, ...privatePart(full) } : visible
}
