import type { EventOf } from '../contract.js'
import { carry, claimMessage, closeItem, eventExtras, freeMessageId, openItem, takeCarried } from './items.js'
import { laneOfTag, openLaneOfTag } from './lanes.js'
import { withLaneTag, laneTag, type CallItem, type Lane, type RunState } from './run-state.js'

type CallStart = EventOf<'TOOL_CALL_START' | 'TOOL_CALL_CHUNK' | 'TOOL_CALL_ARGS'>

/** Writes one loose tool-call event as its part of a start, args, end triad. */
export function writeCall(run: RunState, event: CallStart | EventOf<'TOOL_CALL_END'>): void {
  if (event.type === 'TOOL_CALL_END') return endCall(run, event)
  const item = callFor(run, event)
  if (!item) return
  const delta = 'delta' in event ? event.delta : undefined
  carry(item, eventExtras(event))
  if (!item.isOpen) openCall(run, item, Boolean(delta))
  if (delta) run.emitDelta(item, delta)
}

/** Ends a call. Ignored when the call is closed already, also as one of the thread's. */
function endCall(run: RunState, event: EventOf<'TOOL_CALL_END'>): void {
  const item = run.calls.get(event.toolCallId)
  if (item) {
    item.ended = true
    closeItem(run, item, eventExtras(event))
  } else if (!isPastCall(run, event.toolCallId)) {
    run.report(`there is no tool call '${event.toolCallId}' to end`)
  }
}

/** Whether a call belongs to the thread, or did until a snapshot removed it. */
function isPastCall(run: RunState, toolCallId: string): boolean {
  return run.fold.list.hasCall(toolCallId) || run.pastCalls.has(toolCallId)
}

/** The call of an event. Calls keep their id, since results name it: a second use of one is left out. */
function callFor(run: RunState, event: CallStart): CallItem | undefined {
  const id = event.toolCallId ?? newestOpenCall(run, event.subagentRunId)?.id
  const known = id === undefined ? undefined : run.calls.get(id)
  if (!known) return newCall(run, id, event)
  if (known.ended || known.lane.closed || (event.type === 'TOOL_CALL_START' && known.isOpen)) {
    run.report(`tool call '${known.id}' was made before; what is written to it again is left out`)
    return undefined
  }
  return known
}

function newCall(run: RunState, id: string | undefined, event: CallStart): CallItem | undefined {
  if (id !== undefined && isPastCall(run, id)) {
    // A resumed agent may write a call again that the thread already has.
    run.report(`tool call '${id}' is the thread's already; only its result is sent`)
    return undefined
  }
  if (event.type === 'TOOL_CALL_ARGS' || event.toolCallName === undefined) {
    run.report(`there is no tool call '${id ?? ''}' to continue, and no name to start one with`)
    return undefined
  }
  const lane = laneOfTag(run, event.subagentRunId)
  const toolCallId = id ?? run.newId()
  const item: CallItem = {
    kind: 'call',
    id: toolCallId,
    lane,
    name: event.toolCallName,
    parentMessageId: parentMessageFor(run, lane, { toolCallId, parentMessageId: event.parentMessageId }),
    isOpen: false,
    sticky: event.type === 'TOOL_CALL_START',
    ended: false,
    answered: false,
  }
  run.calls.set(toolCallId, item)
  return item
}

/**
 * The assistant message that will hold the call. Without a parent the clients make one under the call's own id, so
 * that id must be free as a message id too.
 */
function parentMessageFor(
  run: RunState,
  lane: Lane,
  { toolCallId, parentMessageId }: { toolCallId: string; parentMessageId: string | undefined },
): string | undefined {
  const holder = claimMessage(run, 'text', { lane, id: parentMessageId ?? toolCallId })
  const message = run.fold.list.get(holder.id)
  if (message && message.role !== 'assistant') {
    run.report(`tool call '${toolCallId}' names a message of the role ${message.role} as its parent`)
    return freeMessageId(run, holder.id)
  }
  return parentMessageId === undefined && holder.id === toolCallId ? undefined : holder.id
}

function newestOpenCall(run: RunState, tag: string | undefined): CallItem | undefined {
  const lane = tag === undefined ? run.root : run.lanes.get(tag)
  let newest: CallItem | undefined
  for (const item of lane?.open ?? []) if (item.kind === 'call') newest = item
  return newest
}

function openCall(run: RunState, item: CallItem, hasDelta: boolean): void {
  // Continued after another item has closed it: this agent writes several calls at once.
  if (run.fold.list.hasCall(item.id)) item.sticky = true
  openItem(run, item)
  run.emit({
    type: 'TOOL_CALL_START',
    toolCallId: item.id,
    toolCallName: item.name,
    ...(item.parentMessageId === undefined ? {} : { parentMessageId: item.parentMessageId }),
    ...laneTag(item.lane),
    // The provider's payload belongs to the arguments, when there are any.
    ...(hasDelta ? {} : takeCarried(item)),
  })
}

/** Writes a result, once. Ends its call first if need be. */
export function writeResult(run: RunState, event: EventOf<'TOOL_CALL_RESULT'>): void {
  const call = run.calls.get(event.toolCallId)
  if (!run.fold.list.hasCall(event.toolCallId)) {
    run.report(`TOOL_CALL_RESULT: there is no tool call '${event.toolCallId}'`)
    return
  }
  if (call?.answered === true || run.fold.list.hasResult(event.toolCallId)) {
    run.report(`TOOL_CALL_RESULT: tool call '${event.toolCallId}' has a result already`)
    return
  }
  if (call) {
    call.ended = call.answered = true
    closeItem(run, call)
  }
  const lane = openLaneOfTag(run, event.subagentRunId ?? call?.lane.tag)
  const messageId = freeMessageId(run, event.messageId)
  run.emit(withLaneTag({ ...event, messageId, role: 'tool' as const }, lane))
}
