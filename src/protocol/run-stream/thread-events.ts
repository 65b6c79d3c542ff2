import type { ActivityMessage } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'
import type { EventOf } from '../events.js'
import { applyPatch } from '../fold/patch.js'
import { freeMessageId, renamed } from './claims.js'
import { closeItems } from './items.js'
import { openLaneOf } from './lanes.js'
import { writeEmptyReasoning } from './messages.js'
import { attributed, type Item, type MessageItem, type Run } from './run.js'

export function writeActivitySnapshot(run: Run, event: EventOf<'ACTIVITY_SNAPSHOT'>): void {
  const messageId = activityOf(run, event.messageId)?.id ?? freeMessageId(run, event.messageId)
  run.activities.set(event.messageId, messageId)
  run.emit(attributed({ ...event, messageId }, openLaneOf(run, event.subagentRunId)))
}

/** The activity an agent means by an id, of this run or an earlier one. What has the id but is none is not touched. */
function activityOf(run: Run, rawId: string): ActivityMessage | undefined {
  const message = run.fold.list.get(run.activities.get(rawId) ?? rawId)
  return message?.role === 'activity' ? message : undefined
}

export function writeActivityDelta(run: Run, event: EventOf<'ACTIVITY_DELTA'>): void {
  const activity = activityOf(run, event.messageId)
  if (!activity) {
    run.report(`ACTIVITY_DELTA: there is no activity '${event.messageId}'`)
    return
  }
  const patched = applyPatch(activity.content, event.patch)
  if (!patched.ok || !isRecord(patched.document)) {
    run.report(`ACTIVITY_DELTA: the patch does not apply to '${event.messageId}'`)
    return
  }
  // Untagged, it is of whoever wrote the snapshot, who may have finished by now.
  const { subagentRunId: _tag, ...rest } = event
  run.emit({ ...rest, messageId: activity.id })
}

/**
 * Sends an encrypted value after the end of its message or call. Reasoning that a model only gives encrypted gets an
 * empty message.
 */
export function writeEncryptedValue(run: Run, event: EncryptedValue): void {
  // Untagged, it belongs to whoever owns what it is attached to.
  const { subagentRunId: tag, ...rest } = event
  const item = event.subtype === 'tool-call' ? run.calls.get(event.entityId) : messageItem(run, event)
  const entityId = event.subtype === 'tool-call' ? callId(run, event) : messageId(run, event, item)
  if (item?.isOpen) {
    item.encryptedValue = { ...rest, entityId: item.id }
  } else if (entityId !== undefined) {
    run.emit({ ...rest, entityId })
  } else if (event.subtype === 'tool-call') {
    run.report(`REASONING_ENCRYPTED_VALUE: there is no tool call '${event.entityId}'`)
  } else {
    run.emit({ ...rest, entityId: writeEmptyReasoning(run, openLaneOf(run, tag), event.entityId) })
  }
}

type EncryptedValue = EventOf<'REASONING_ENCRYPTED_VALUE'>

function callId(run: Run, { entityId }: EncryptedValue): string | undefined {
  return run.fold.list.hasCall(entityId) ? entityId : undefined
}

/** The message of this run that an encrypted value is for: the tagged lane's, or the first claimant's. */
function messageItem(
  run: Run,
  { entityId: id, subagentRunId: tag }: EncryptedValue,
): MessageItem | undefined {
  const lane = tag === undefined ? undefined : run.lanes.get(tag)
  const own = lane && (renamed(run, 'reasoning', { lane, id }) ?? renamed(run, 'text', { lane, id }))
  return own ?? run.messages.reasoning.get(id) ?? run.messages.text.get(id)
}

/** The id on the wire of the message that an encrypted value is for, of this run or of history. */
function messageId(run: Run, { entityId }: EncryptedValue, item: Item | undefined): string | undefined {
  const message = run.fold.list.get(item?.id ?? entityId)
  return message && message.role !== 'activity' ? message.id : undefined
}

/**
 * A snapshot restates the whole thread, so nothing may be half said when it comes. Afterwards only the messages it
 * kept, of the same owner and kind, can be continued.
 */
export function writeMessagesSnapshot(run: Run, event: EventOf<'MESSAGES_SNAPSHOT'>): void {
  for (const lane of [run.root, ...run.openLanes]) closeItems(run, lane)
  // What a snapshot takes away does not free its id: an id names one thing for ever.
  for (const message of run.fold.messages) {
    run.claimed.add(message.id)
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) run.pastCalls.add(id)
  }
  run.emit(event)
  for (const items of [run.messages.text, run.messages.reasoning, run.renamed]) {
    for (const [key, item] of items ?? []) if (!isKept(run, item)) items?.delete(key)
  }
  for (const call of run.calls.values()) call.ended = true
  restateOwners(run)
}

function isKept(run: Run, item: MessageItem): boolean {
  const message = run.fold.list.get(item.id)
  const role = item.kind === 'text' ? item.role : 'reasoning'
  return message?.role === role && message.subagentRunId === item.lane.id
}

/** Reasoning in the snapshot has an owner too: no other may take its id for a span. */
function restateOwners(run: Run): void {
  for (const message of run.fold.messages) {
    if (message.role === 'reasoning') run.reasoningOwners.set(message.id, message.subagentRunId)
  }
}
