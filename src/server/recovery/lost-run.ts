import type { Message, ToolCall } from '@ag-ui/core'
import type { IdSource } from '../../core/ids.js'
import { isRecord } from '../../core/json.js'
import {
  cutOffMark,
  isForDisplay,
  isRejected,
  resumeRunStream,
  toolErrorMark,
  type AgUiEvent,
} from '../../protocol/index.js'
import type { LogEntry, RunRecord } from '../../threads/contract.js'
import { callsWithResult } from '../run/thread-change.js'
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
  /** Whether a call can still get its result: from the client, or when an interrupt is answered. */
  readonly isOpen: (call: ToolCall) => boolean
  /** The error that ends the run. */
  readonly error: Error
  readonly newId: IdSource
  readonly onUnreadable: (error: unknown) => void
}

export interface ReplayedRun {
  /** The events that the log lacks to be a whole stream. */
  readonly lines: readonly string[]
  /** The thread that a client holds after these events. */
  readonly ended: ThreadContent
}

/**
 * Replays the logged events and ends the run. Calls that were at work get a result that says so: without one, no agent
 * could go on from there.
 */
export function replayLostRun(lost: LostRun): ReplayedRun {
  const { threadId, run, entries, start, error, isOpen, newId, onUnreadable } = lost
  // Catch-up events may show the client messages that the thread does not have yet.
  const catchUp = run.start?.catchUp ?? 0
  const logged = entries.filter((_, position) => position === 0 || position > catchUp)
  const events = logged
    .map(({ json }) => JSON.parse(json) as AgUiEvent)
    .filter((event) => !isForDisplay(event))
  const missing: AgUiEvent[] = []
  const stream = resumeRunStream({
    ...start,
    threadId,
    runId: run.runId,
    events,
    emit: (event) => missing.push(event),
    // A hook may have changed what is logged. One odd event must not make the thread useless.
    onUnreadable,
  })
  for (const { id, subagentRunId } of lostCalls(events, stream.fold.messages, isOpen))
    stream.write({
      ...{ type: 'TOOL_CALL_RESULT', messageId: newId('message'), toolCallId: id },
      ...{ content: lostCallContent, metadata: toolErrorMark },
      ...(subagentRunId === undefined ? {} : { subagentRunId }),
    })
  stream.fail(error, { mark: cutOffMark })
  return { lines: missing.map((event) => JSON.stringify(event)), ended: stream.fold }
}

const lostCallContent =
  'The result of this call is lost: its process has ended. It may or may not have been carried out. ' +
  'Find out before you repeat it.'

interface LostCall {
  readonly id: string
  readonly subagentRunId: string | undefined
}

/** The whole calls since the last user message without a result, the inner ones first. */
function lostCalls(
  events: readonly AgUiEvent[],
  ended: readonly Message[],
  isOpen: LostRun['isOpen'],
): readonly LostCall[] {
  const unfinished = new Set<string>()
  for (const event of events) {
    if (event.type === 'TOOL_CALL_START') unfinished.add(event.toolCallId)
    else if (event.type === 'TOOL_CALL_END') unfinished.delete(event.toolCallId)
  }
  const results = callsWithResult(ended)
  const isLost = (call: ToolCall): boolean =>
    !results.has(call.id) && !unfinished.has(call.id) && !isOpen(call)
  const lastUser = ended.findLastIndex(({ role }) => role === 'user')
  return ended
    .slice(lastUser + 1)
    .toReversed()
    .flatMap((message) =>
      message.role !== 'assistant' || isRejected(message)
        ? []
        : (message.toolCalls ?? [])
            .filter(isLost)
            .map(({ id }) => ({ id, subagentRunId: message.subagentRunId })),
    )
}

/** The log has only the visible part of the state. */
export function withPrivatePart(visible: unknown, full: unknown, { privatePart }: StateRulesHandle): unknown {
  return isRecord(visible) ? { ...visible, ...privatePart(full) } : visible
}
