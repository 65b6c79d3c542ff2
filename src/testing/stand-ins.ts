import { EventType, type BaseEvent } from '@ag-ui/core'

/** Where a stream stands. An `assumed` run is one whose start is missing. */
export type Phase = 'before' | 'assumed' | 'open' | 'ended'

/** Opens a run. */
const STARTED: BaseEvent = { type: EventType.RUN_STARTED, threadId: '', runId: '' }
/** Ends a run, whatever is open in it. */
export const ERRORED: BaseEvent = { type: EventType.RUN_ERROR, message: '' }

/** Where the stream stands after an event the client accepted. */
export function phaseAfter(phase: Phase, event: BaseEvent): Phase {
  if (event === STARTED) return 'assumed'
  if (event.type === EventType.RUN_STARTED) return 'open'
  return isTerminal(event) ? 'ended' : phase
}

/**
 * What takes the place of an event the client rejects, so that the rest of the stream is judged on its own: without
 * it, a stream with one bad run event would be nothing but follow-up errors. A valid event was rejected for its place
 * only, and may follow its stand-in.
 */
export function standInsFor(
  event: BaseEvent,
  { phase, isValid }: { phase: Phase; isValid: boolean },
): readonly BaseEvent[] {
  if (event.type === EventType.RUN_STARTED) {
    return [...(phase === 'open' ? [ERRORED] : []), isValid ? event : STARTED]
  }
  const opener = phase === 'before' ? [STARTED] : []
  if (isTerminal(event)) return phase === 'ended' ? [] : [...opener, ERRORED]
  return phase === 'before' && isValid ? [STARTED, event] : opener
}

const CONTINUATIONS: ReadonlySet<string> = new Set([
  EventType.TEXT_MESSAGE_CONTENT,
  EventType.TEXT_MESSAGE_CHUNK,
  EventType.TOOL_CALL_ARGS,
  EventType.TOOL_CALL_CHUNK,
  EventType.REASONING_MESSAGE_CONTENT,
  EventType.REASONING_MESSAGE_CHUNK,
])

/**
 * Whether a client is in the same state with and without the event: one more piece of what the last event was a piece
 * of. Long texts need not be replayed after every mistake then.
 */
export function leavesNoTrace(event: BaseEvent, last: BaseEvent | undefined): boolean {
  if (!last || !CONTINUATIONS.has(event.type) || event.type !== last.type) return false
  return ['messageId', 'toolCallId', 'subagentRunId'].every((id) => event[id] === last[id])
}

function isTerminal({ type }: BaseEvent): boolean {
  return type === EventType.RUN_FINISHED || type === EventType.RUN_ERROR
}
