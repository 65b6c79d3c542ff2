import type { Metadata } from '@ag-ui/core'
import type { EventOf } from '../events.js'
import { claim, renamed } from './claims.js'
import { carry, close, opened, takeCarried } from './items.js'
import { laneOf } from './lanes.js'
import { ensureSpan } from './reasoning-span.js'
import { owner, type Extras, type Lane, type MessageItem, type Run } from './run.js'

type Kind = MessageItem['kind']

/** A text or reasoning event with its family's names taken away; the id may be missing. */
export interface MessageWrite {
  readonly kind: Kind
  readonly phase: 'start' | 'content' | 'end' | 'chunk'
  readonly messageId: string | undefined
  readonly tag: string | undefined
  readonly delta: string | undefined
  readonly role: MessageItem['role'] | undefined
  readonly name: string | undefined
  readonly extras: Extras
}

/** Brings one loose text or reasoning event onto the wire as its part of a start, content, end triad. */
export function writeMessage(run: Run, write: MessageWrite): void {
  if (write.phase === 'end') {
    endMessage(run, write)
    return
  }
  const item = itemFor(run, write)
  carry(item, write.extras)
  if (!item.isOpen) openMessage(run, item, write)
  if (write.delta) emitDelta(run, item, write.delta)
}

/** The one event per token. */
export function emitDelta(run: Run, item: MessageItem, delta: string): void {
  const type = item.kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT'
  const event: EventOf<'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT'> =
    item.lane.id === undefined
      ? { type, messageId: item.id, delta }
      : { type, messageId: item.id, delta, subagentRunId: item.lane.id }
  run.emit(item.carried ? { ...event, ...takeCarried(item) } : event)
}

function endMessage(run: Run, write: MessageWrite): void {
  const item = continued(run, write) ?? (write.messageId === undefined ? latest(run, write) : undefined)
  if (!item) run.report(`there is no open ${write.kind} message '${write.messageId ?? ''}' to end`)
  else close(run, item, write.extras)
}

/** The item an event speaks of, made if it is new. */
function itemFor(run: Run, write: MessageWrite): MessageItem {
  if (write.messageId === undefined) {
    return latest(run, write) ?? claim(run, write.kind, { lane: laneOf(run, write.tag), id: run.newId() })
  }
  const known = continued(run, write)
  // A subagent that went on after its end has a new lane, and its messages are new ones.
  if (known && !known.lane.closed) return known
  const lane = laneOf(run, write.tag ?? known?.lane.tag)
  return claim(run, write.kind, { lane, id: write.messageId })
}

/**
 * The item an event continues, if any. The opener owns it: an untagged or mis-tagged continuation is the opener's.
 * An opening under another tag is not a continuation but a clash of ids.
 */
function continued(run: Run, { kind, phase, messageId, tag }: MessageWrite): MessageItem | undefined {
  if (messageId === undefined) return undefined
  const lane = tag === undefined ? undefined : run.lanes.get(tag)
  const own = lane && renamed(run, kind, { lane, id: messageId })
  if (own) return own
  const first = run.messages[kind].get(messageId)
  const opens = phase === 'start' || phase === 'chunk'
  return opens && tag !== undefined && first && first.lane !== lane ? undefined : first
}

/** What an event without an id continues: the newest open one in its lane, or in the only lane that has one. */
function latest(run: Run, { kind, phase, tag }: MessageWrite): MessageItem | undefined {
  if (phase === 'start') return undefined
  if (tag !== undefined) {
    const lane = run.lanes.get(tag)
    return lane && newestOpen(lane, kind)
  }
  const own = newestOpen(run.root, kind)
  if (own) return own
  const others = [...run.openLanes].flatMap((lane) => newestOpen(lane, kind) ?? [])
  return others.length === 1 ? others[0] : undefined
}

function newestOpen(lane: Lane, kind: Kind): MessageItem | undefined {
  let newest: MessageItem | undefined
  for (const item of lane.open) if (item.kind === kind) newest = item
  return newest
}

/** A reasoning message without a word, for what a model only tells encrypted. Returns its id on the wire. */
export function writeEmptyReasoning(run: Run, lane: Lane, id: string): string {
  const item = claim(run, 'reasoning', { lane, id })
  openMessage(run, item, {})
  close(run, item)
  return item.id
}

/** Opens a complete message once more to add metadata to it. */
export function markComplete(run: Run, item: MessageItem, metadata: Metadata): void {
  carry(item, { metadata })
  openMessage(run, item, {})
  close(run, item)
}

type Opening = Partial<Pick<MessageWrite, 'role' | 'name' | 'delta'>>

function openMessage(run: Run, item: MessageItem, { role, name, delta }: Opening): void {
  if (run.fold.list.get(item.id) === undefined) {
    item.role = role ?? 'assistant'
    item.name = name
  }
  if (item.wasOpen) item.sticky = true
  item.wasOpen = true
  if (item.kind === 'reasoning') ensureSpan(run, item)
  opened(run, item)
  // The provider's payload belongs to what it said: to the content, when there is any.
  run.emit({ ...starting(item), ...owner(item.lane), ...(delta ? {} : takeCarried(item)) })
}

function starting(item: MessageItem): EventOf<'TEXT_MESSAGE_START' | 'REASONING_MESSAGE_START'> {
  if (item.kind === 'reasoning') {
    return { type: 'REASONING_MESSAGE_START', messageId: item.id, role: 'reasoning' }
  }
  const name = item.name === undefined ? {} : { name: item.name }
  return { type: 'TEXT_MESSAGE_START', messageId: item.id, role: item.role, ...name }
}
