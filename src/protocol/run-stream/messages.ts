import type { Metadata } from '@ag-ui/core'
import type { EventOf } from '../contract.js'
import {
  carry,
  claimMessage,
  closeItem,
  eventExtras,
  freeSpanId,
  openItem,
  renamedMessage,
  takeCarried,
} from './items.js'
import { laneOfTag } from './lanes.js'
import {
  laneTag,
  type Extras,
  type Lane,
  type MessageItem,
  type RunState,
  type SpanItem,
} from './run-state.js'

type Kind = MessageItem['kind']
type MessageEvent = EventOf<`${'TEXT' | 'REASONING'}_MESSAGE_${'START' | 'CONTENT' | 'END' | 'CHUNK'}`>

/** Writes one loose text or reasoning event as its part of a start, content, end triad. */
export function writeMessage(run: RunState, event: MessageEvent): void {
  const kind = event.type.startsWith('TEXT') ? 'text' : 'reasoning'
  if (event.type === 'TEXT_MESSAGE_END' || event.type === 'REASONING_MESSAGE_END') {
    const item = knownItem(run, kind, event)
    if (item) closeItem(run, item, eventExtras(event))
    else run.report(`there is no open ${kind} message '${event.messageId}' to end`)
    return
  }
  const delta = 'delta' in event ? event.delta : undefined
  const item = itemFor(run, kind, event)
  carry(item, eventExtras(event))
  // Who writes a start writes an end too, maybe with other messages in between.
  if (delta === undefined && event.type.endsWith('START')) item.sticky = true
  if (!item.isOpen) openMessage(run, item, event)
  if (delta) run.emitDelta(item, delta)
}

/** The item of an event, made if it is new. */
function itemFor(run: RunState, kind: Kind, event: MessageEvent): MessageItem {
  const { messageId, subagentRunId: tag } = event
  if (messageId === undefined) {
    return (
      latestItem(run, kind, tag) ?? claimMessage(run, kind, { lane: laneOfTag(run, tag), id: run.newId() })
    )
  }
  const known = knownItem(run, kind, event)
  // A subagent that writes after its end has a new lane, and its messages are new ones.
  if (known && !known.lane.closed) return known
  return claimMessage(run, kind, { lane: laneOfTag(run, tag ?? known?.lane.tag), id: messageId })
}

/**
 * The item that an event with an id continues, if any. The opener owns it: an untagged or mis-tagged continuation is the
 * opener's. A start or chunk under another tag is not a continuation but a clash of ids.
 */
function knownItem(run: RunState, kind: Kind, event: MessageEvent): MessageItem | undefined {
  const { messageId: id = '', subagentRunId: tag } = event
  const lane = tag === undefined ? undefined : run.lanes.get(tag)
  const own = lane && renamedMessage(run, kind, { lane, id })
  if (own) return own
  const first = run.messages[kind].get(id)
  const mayOpen = event.type.endsWith('START') || event.type.endsWith('CHUNK')
  return mayOpen && tag !== undefined && first && first.lane !== lane ? undefined : first
}

/** The item that an event without an id continues: the newest open one in its lane, or in the only lane that has one. */
function latestItem(run: RunState, kind: Kind, tag: string | undefined): MessageItem | undefined {
  if (tag !== undefined) {
    const lane = run.lanes.get(tag)
    return lane && newestOpenMessage(lane, kind)
  }
  const own = newestOpenMessage(run.root, kind)
  if (own) return own
  const others = [...run.openLanes].flatMap((lane) => newestOpenMessage(lane, kind) ?? [])
  return others.length === 1 ? others[0] : undefined
}

function newestOpenMessage(lane: Lane, kind: Kind): MessageItem | undefined {
  let newest: MessageItem | undefined
  for (const item of lane.open) if (item.kind === kind) newest = item
  return newest
}

function openMessage(run: RunState, item: MessageItem, event?: MessageEvent): void {
  const isStart = event?.type === 'TEXT_MESSAGE_START' || event?.type === 'TEXT_MESSAGE_CHUNK'
  if (isStart && run.fold.list.get(item.id) === undefined) {
    item.role = event.role ?? 'assistant'
    item.name = event.name
  }
  if (item.wasOpen) item.sticky = true
  item.wasOpen = true
  if (item.kind === 'reasoning') ensureSpan(run, item)
  openItem(run, item)
  // The provider's payload belongs to the content, when there is any.
  const hasDelta = event !== undefined && 'delta' in event && Boolean(event.delta)
  run.emit({ ...startEventFor(item), ...laneTag(item.lane), ...(hasDelta ? {} : takeCarried(item)) })
}

function startEventFor(item: MessageItem): EventOf<'TEXT_MESSAGE_START' | 'REASONING_MESSAGE_START'> {
  if (item.kind === 'reasoning')
    return { type: 'REASONING_MESSAGE_START', messageId: item.id, role: 'reasoning' }
  const name = item.name === undefined ? {} : { name: item.name }
  return { type: 'TEXT_MESSAGE_START', messageId: item.id, role: item.role, ...name }
}

/** Writes an empty reasoning message, for reasoning that is only encrypted. Returns its id on the wire. */
export function writeEmptyReasoning(run: RunState, lane: Lane, id: string): string {
  const item = claimMessage(run, 'reasoning', { lane, id })
  openMessage(run, item)
  closeItem(run, item)
  return item.id
}

/** Opens a complete message once more to add metadata to it. */
export function markCompleteMessage(run: RunState, item: MessageItem, metadata: Metadata): void {
  carry(item, { metadata })
  openMessage(run, item)
  closeItem(run, item)
}

/** Every reasoning message stands in a span; one without gets a span of the same id. */
function ensureSpan(run: RunState, { lane, id }: MessageItem): void {
  if (![...lane.open].some(({ kind }) => kind === 'span')) openSpan(run, lane, { rawId: id })
}

export function writeSpanStart(run: RunState, event: EventOf<'REASONING_START'>): void {
  const { type: _type, messageId, subagentRunId, ...extras } = event
  const lane = laneOfTag(run, subagentRunId)
  if (findSpan(lane, messageId)) return
  openSpan(run, lane, { rawId: messageId, extras })
}

function openSpan(
  run: RunState,
  lane: Lane,
  { rawId, extras = {} }: { rawId: string; extras?: Extras },
): void {
  const id = freeSpanId(run, rawId, lane)
  const span: SpanItem = { kind: 'span', id, rawId, lane, isOpen: false, sticky: false }
  openItem(run, span)
  run.emit({ type: 'REASONING_START', messageId: id, ...laneTag(lane), ...extras })
}

/** Ends a span, and the lane's reasoning in it first. Ignored when another item has closed the span. */
export function writeSpanEnd(run: RunState, event: EventOf<'REASONING_END'>): void {
  const { type: _type, messageId, subagentRunId, ...extras } = event
  const tagged = subagentRunId === undefined ? undefined : run.lanes.get(subagentRunId)
  for (const lane of tagged ? [tagged] : [run.root, ...run.openLanes]) {
    const span = findSpan(lane, messageId)
    if (!span) continue
    for (const item of [...lane.open].reverse()) if (item.kind === 'reasoning') closeItem(run, item)
    closeItem(run, span, extras)
    return
  }
}

function findSpan(lane: Lane, rawId: string): SpanItem | undefined {
  for (const item of lane.open) if (item.kind === 'span' && item.rawId === rawId) return item
  return undefined
}
