import type { Message } from '@ag-ui/core'
import { cancelledMark, createRunStream, type AgentEvent, type AgUiEvent } from '../../protocol/index.js'
import type { LogEntry, RunRecord } from '../../threads/contract.js'

export interface LostRun {
  readonly thread: string
  readonly run: RunRecord
  readonly entries: readonly LogEntry[]
  /** What it began with. */
  readonly messages: readonly Message[]
  readonly state: unknown
  /** What it ends with. */
  readonly error: Error
  readonly onUnreadable: (error: unknown) => void
}

export interface Replayed {
  /** The events that its stream lacks to end. */
  readonly lines: readonly string[]
  /** What a client holds then. */
  readonly ended: { readonly messages: readonly Message[]; readonly state: unknown }
}

/** Goes through the logged events once more, and adds what a stream needs to end. */
export function replayRun(lost: LostRun): Replayed {
  const { thread, run, entries, messages, state, error, onUnreadable } = lost
  const emitted: AgUiEvent[] = []
  const stream = createRunStream({
    threadId: thread,
    runId: run.runId,
    messages,
    state,
    emit: (event) => emitted.push(event),
  })
  if (entries.length > 0) emitted.length = 0
  const opening = run.start?.opening ?? 0
  const ends = new Map<string, AgentEvent>()
  for (const [position, { json }] of entries.entries()) {
    // It may tell the client of messages that the thread does not have yet.
    if (position > 0 && position <= opening) continue
    const event = JSON.parse(json) as AgUiEvent
    if (event.type === 'RUN_STARTED' || event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') continue
    try {
      stream.write(event)
      noteEnd(ends, event)
    } catch (cause) {
      // A hook has the last word on what is logged. One odd event must not make the thread useless.
      onUnreadable(cause)
    }
    emitted.length = 0
  }
  // The newest first, as the stream itself does it.
  for (const end of [...ends.values()].reverse()) stream.write(end)
  stream.fail(error)
  return { lines: emitted.map((event) => JSON.stringify(event)), ended: stream.fold }
}

const metadata = cancelledMark

/** Keeps, by id, the events that would end what is open. */
function noteEnd(ends: Map<string, AgentEvent>, event: AgUiEvent): void {
  switch (event.type) {
    case 'TEXT_MESSAGE_START':
    case 'REASONING_MESSAGE_START': {
      const { messageId, subagentRunId } = event
      const type = event.type === 'TEXT_MESSAGE_START' ? 'TEXT_MESSAGE_END' : 'REASONING_MESSAGE_END'
      ends.set(messageId, {
        type,
        messageId,
        metadata,
        ...(subagentRunId === undefined ? {} : { subagentRunId }),
      })
      return
    }
    case 'TOOL_CALL_START': {
      const { toolCallId, subagentRunId } = event
      const tag = subagentRunId === undefined ? {} : { subagentRunId }
      ends.set(toolCallId, { type: 'TOOL_CALL_END', toolCallId, metadata, ...tag })
      return
    }
    case 'TEXT_MESSAGE_END':
    case 'REASONING_MESSAGE_END':
      ends.delete(event.messageId)
      return
    case 'TOOL_CALL_END':
      ends.delete(event.toolCallId)
      return
    default:
  }
}
