import type { EventOf } from '../events.js'
import { claim, freeMessageId } from './claims.js'
import { carry, close, opened, takeCarried } from './items.js'
import { laneOf, openLaneOf } from './lanes.js'
import { attributed, owner, type CallItem, type Extras, type Lane, type Run } from './run.js'

/** A tool-call event with its type's name taken away; ids and name may be missing. */
export interface CallWrite {
  readonly phase: 'start' | 'args' | 'end' | 'chunk'
  readonly toolCallId: string | undefined
  readonly tag: string | undefined
  readonly delta: string | undefined
  readonly toolCallName: string | undefined
  readonly parentMessageId: string | undefined
  readonly extras: Extras
}

export function writeCall(run: Run, write: CallWrite): void {
  if (write.phase === 'end') return endCall(run, write)
  const item = callFor(run, write)
  if (!item) return
  carry(item, write.extras)
  if (!item.isOpen) openCall(run, item, write)
  if (write.delta) emitArgs(run, item, write.delta)
}

/** Ends a call. The end of a call that is closed already, also one of the thread's, is nothing to report. */
function endCall(run: Run, { toolCallId, tag, extras }: CallWrite): void {
  const item = toolCallId === undefined ? newestOpenCall(run, tag) : run.calls.get(toolCallId)
  if (item) {
    item.ended = true
    close(run, item, extras)
  } else if (toolCallId === undefined || !isPastCall(run, toolCallId)) {
    run.report(`there is no tool call '${toolCallId ?? ''}' to end`)
  }
}

/** Whether a call belongs to the thread, or did until a snapshot took it away. */
function isPastCall(run: Run, toolCallId: string): boolean {
  return run.fold.list.hasCall(toolCallId) || run.pastCalls.has(toolCallId)
}

export function emitArgs(run: Run, item: CallItem, delta: string): void {
  const event: EventOf<'TOOL_CALL_ARGS'> =
    item.lane.id === undefined
      ? { type: 'TOOL_CALL_ARGS', toolCallId: item.id, delta }
      : { type: 'TOOL_CALL_ARGS', toolCallId: item.id, delta, subagentRunId: item.lane.id }
  run.emit(item.carried ? { ...event, ...takeCarried(item) } : event)
}

/** The call an event speaks of. Calls keep their id, since results name it: a second use of one is left out. */
function callFor(run: Run, write: CallWrite): CallItem | undefined {
  const id = write.toolCallId ?? (write.phase === 'start' ? undefined : newestOpenCall(run, write.tag)?.id)
  const known = id === undefined ? undefined : run.calls.get(id)
  if (!known) return newCall(run, id, write)
  if (known.ended || known.lane.closed || (write.phase === 'start' && known.isOpen)) {
    run.report(`tool call '${known.id}' was made before; what is written to it again is left out`)
    return undefined
  }
  return known
}

function newCall(run: Run, id: string | undefined, write: CallWrite): CallItem | undefined {
  if (id !== undefined && isPastCall(run, id)) {
    // A resumed agent may go through a call again that the thread already holds.
    run.report(`tool call '${id}' is the thread's already; only its result is sent`)
    return undefined
  }
  if (write.toolCallName === undefined) {
    run.report(`there is no tool call '${id ?? ''}' to continue, and no name to start one with`)
    return undefined
  }
  const lane = laneOf(run, write.tag)
  const toolCallId = id ?? run.newId()
  const item: CallItem = {
    kind: 'call',
    id: toolCallId,
    lane,
    name: write.toolCallName,
    parentMessageId: parentOf(run, lane, { toolCallId, parentMessageId: write.parentMessageId }),
    isOpen: false,
    sticky: write.phase !== 'chunk',
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
function parentOf(
  run: Run,
  lane: Lane,
  { toolCallId, parentMessageId }: { toolCallId: string; parentMessageId: string | undefined },
): string | undefined {
  const holder = claim(run, 'text', { lane, id: parentMessageId ?? toolCallId })
  const message = run.fold.list.get(holder.id)
  if (message && message.role !== 'assistant') {
    run.report(`tool call '${toolCallId}' names a message of the role ${message.role} as its parent`)
    return freeMessageId(run, holder.id)
  }
  return parentMessageId === undefined && holder.id === toolCallId ? undefined : holder.id
}

function newestOpenCall(run: Run, tag: string | undefined): CallItem | undefined {
  const lane = tag === undefined ? run.root : run.lanes.get(tag)
  let newest: CallItem | undefined
  for (const item of lane?.open ?? []) if (item.kind === 'call') newest = item
  return newest
}

function openCall(run: Run, item: CallItem, write: CallWrite): void {
  // Continued after it made room for something else: this agent writes several calls at once.
  if (run.fold.list.hasCall(item.id)) item.sticky = true
  opened(run, item)
  run.emit({
    type: 'TOOL_CALL_START',
    toolCallId: item.id,
    toolCallName: item.name,
    ...(item.parentMessageId === undefined ? {} : { parentMessageId: item.parentMessageId }),
    ...owner(item.lane),
    // The provider's payload belongs to what it said: to the arguments, when there are any.
    ...(write.delta ? {} : takeCarried(item)),
  })
}

/** A result ends its call if need be, and is sent once. */
export function writeResult(run: Run, event: EventOf<'TOOL_CALL_RESULT'>): void {
  const call = run.calls.get(event.toolCallId)
  if (!call && !run.fold.list.hasCall(event.toolCallId)) {
    run.report(`TOOL_CALL_RESULT: there is no tool call '${event.toolCallId}'`)
    return
  }
  if (call?.answered === true || run.fold.list.hasResult(event.toolCallId)) {
    run.report(`TOOL_CALL_RESULT: tool call '${event.toolCallId}' has a result already`)
    return
  }
  if (call) {
    call.ended = call.answered = true
    close(run, call)
  }
  const lane = openLaneOf(run, event.subagentRunId ?? call?.lane.tag)
  const messageId = freeMessageId(run, event.messageId)
  run.emit(attributed({ ...event, messageId, role: 'tool' as const }, lane))
}
