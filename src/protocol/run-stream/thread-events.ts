import type { ActivityMessage } from '@ag-ui/core'
import { isRecord } from '../../core/json.js'
import { toJson } from '../../core/to-json.js'
import type { EventOf } from '../contract.js'
import { applyPatch } from '../fold/patch.js'
import { isRejected } from '../messages.js'
import { closeItems, freeMessageId, renamedMessage } from './items.js'
import { openLaneOfTag } from './lanes.js'
import { writeEmptyReasoning } from './messages.js'
import { withLaneTag, laneTag, type MessageItem, type RunState } from './run-state.js'

export function writeStateSnapshot(run: RunState, event: EventOf<'STATE_SNAPSHOT'>): void {
  run.emit(withLaneTag(event, openLaneOfTag(run, event.subagentRunId)))
}

/**
 * Sends a delta only when it applies to the state the client holds. Otherwise the two states differ, and a snapshot
 * brings them together: of the agent's state if it can be read, else of what the client should hold.
 */
export function writeStateDelta(run: RunState, event: EventOf<'STATE_DELTA'>): void {
  const lane = openLaneOfTag(run, event.subagentRunId)
  const problem = run.tryEmit(withLaneTag(event, lane))
  if (problem === undefined) return
  run.report(problem)
  const snapshot = run.readState ? toJson(run.readState(), 'readState') : run.fold.state
  run.emit({ type: 'STATE_SNAPSHOT', snapshot, ...laneTag(lane) })
}

/**
 * Sends a snapshot of all messages. It restates the whole thread, so everything is closed before it; afterwards only the
 * messages it kept, of the same owner and kind, can be continued.
 */
export function writeMessagesSnapshot(run: RunState, event: EventOf<'MESSAGES_SNAPSHOT'>): void {
  for (const lane of [run.root, ...run.openLanes]) closeItems(run, lane)
  // Ids of messages that the snapshot removes stay taken: an id names one thing for ever.
  for (const message of run.fold.messages) {
    run.claimed.add(message.id)
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) run.pastCalls.add(id)
  }
  run.emit(event)
  // It is believed: what was taken back before is restated now.
  run.mustRestate = run.mustRestateReasoning || run.fold.messages.some(isRejected)
  for (const items of [run.messages.text, run.messages.reasoning, run.renamed]) {
    for (const [key, item] of items ?? []) if (!isInSnapshot(run, item)) items?.delete(key)
  }
  for (const call of run.calls.values()) call.ended = true
  // Reasoning in the snapshot has an owner too: no other may take its id for a span.
  for (const message of run.fold.messages) {
    if (message.role === 'reasoning') run.reasoningOwners.set(message.id, message.subagentRunId)
  }
}

function isInSnapshot(run: RunState, item: MessageItem): boolean {
  const message = run.fold.list.get(item.id)
  const role = item.kind === 'text' ? item.role : 'reasoning'
  return message?.role === role && message.subagentRunId === item.lane.id
}

export function writeActivitySnapshot(run: RunState, event: EventOf<'ACTIVITY_SNAPSHOT'>): void {
  const messageId = findActivity(run, event.messageId)?.id ?? freeMessageId(run, event.messageId)
  run.activities.set(event.messageId, messageId)
  run.emit(withLaneTag({ ...event, messageId }, openLaneOfTag(run, event.subagentRunId)))
}

/**
 * Says of the surfaces of A2UI that are still being written that there will be none. Call it before lanes are closed: the run
 * ends, and whoever loads the thread would wait for ever.
 */
export function failUnfinishedSurfaces(run: RunState): void {
  for (const id of run.activities.values()) {
    const activity = run.fold.list.get(id)
    if (activity?.role !== 'activity' || activity.activityType !== 'a2ui-surface') continue
    if (activity.content.status !== 'building' && activity.content.status !== 'retrying') continue
    const lane = [...run.openLanes].find((one) => one.id === activity.subagentRunId)
    const content = { status: 'failed', error: 'The run ended before the surface was there.' }
    run.emit({
      type: 'ACTIVITY_SNAPSHOT',
      messageId: id,
      activityType: activity.activityType,
      content,
      replace: true,
      ...laneTag(lane ?? run.root),
    })
  }
}

export function writeActivityDelta(run: RunState, event: EventOf<'ACTIVITY_DELTA'>): void {
  const activity = findActivity(run, event.messageId)
  if (!activity) {
    run.report(`ACTIVITY_DELTA: there is no activity '${event.messageId}'`)
    return
  }
  const patched = applyPatch(activity.content, event.patch)
  if (!patched.ok || !isRecord(patched.document)) {
    run.report(`ACTIVITY_DELTA: the patch does not apply to '${event.messageId}'`)
    return
  }
  // Untagged, it belongs to the lane that wrote the snapshot, which may have finished.
  const { subagentRunId: _tag, ...rest } = event
  run.emit({ ...rest, messageId: activity.id })
}

/** The activity with an agent's id, of this run or an earlier one. Ignores messages of other roles. */
function findActivity(run: RunState, rawId: string): ActivityMessage | undefined {
  const message = run.fold.list.get(run.activities.get(rawId) ?? rawId)
  return message?.role === 'activity' ? message : undefined
}

type EncryptedValue = EventOf<'REASONING_ENCRYPTED_VALUE'>

/**
 * Sends an encrypted value after the end of its message or call. Reasoning that is only encrypted gets an
 * empty message.
 */
export function writeEncryptedValue(run: RunState, event: EncryptedValue): void {
  // Untagged, it belongs to the lane of its message or call.
  const { subagentRunId: tag, ...rest } = event
  const isCall = event.subtype === 'tool-call'
  const item = isCall ? run.calls.get(event.entityId) : messageItemOf(run, event)
  const id = item?.id ?? event.entityId
  if (item?.isOpen) item.encryptedValue = { ...rest, entityId: id }
  else if (isCall ? run.fold.list.hasCall(id) : isMessage(run, id)) run.emit({ ...rest, entityId: id })
  else if (isCall) run.report(`REASONING_ENCRYPTED_VALUE: there is no tool call '${id}'`)
  else run.emit({ ...rest, entityId: writeEmptyReasoning(run, openLaneOfTag(run, tag), event.entityId) })
}

/** The message of this run that an encrypted value is for: the tagged lane's, or the first claimant's. */
function messageItemOf(
  run: RunState,
  { entityId: id, subagentRunId: tag }: EncryptedValue,
): MessageItem | undefined {
  const lane = tag === undefined ? undefined : run.lanes.get(tag)
  const own =
    lane && (renamedMessage(run, 'reasoning', { lane, id }) ?? renamedMessage(run, 'text', { lane, id }))
  return own ?? run.messages.reasoning.get(id) ?? run.messages.text.get(id)
}

function isMessage(run: RunState, id: string): boolean {
  const message = run.fold.list.get(id)
  return message !== undefined && message.role !== 'activity'
}
