import type { EventOf } from '../events.js'
import { freeSpanId } from './claims.js'
import { close, opened } from './items.js'
import { laneOf } from './lanes.js'
import { owner, type Extras, type Lane, type MessageItem, type Run, type SpanItem } from './run.js'

/** Every reasoning message stands in a span; one without gets a span of the same id. */
export function ensureSpan(run: Run, { lane, id }: MessageItem): void {
  if (![...lane.open].some(({ kind }) => kind === 'span')) openSpan(run, lane, { rawId: id })
}

export function writeSpanStart(run: Run, event: EventOf<'REASONING_START'>): void {
  const { type: _type, messageId, subagentRunId, ...extras } = event
  const lane = laneOf(run, subagentRunId)
  if (findSpan(lane, messageId)) return
  openSpan(run, lane, { rawId: messageId, extras })
}

function openSpan(run: Run, lane: Lane, { rawId, extras = {} }: { rawId: string; extras?: Extras }): void {
  const id = freeSpanId(run, rawId, lane)
  const span: SpanItem = { kind: 'span', id, rawId, lane, isOpen: false, sticky: false }
  opened(run, span)
  run.emit({ type: 'REASONING_START', messageId: id, ...owner(lane), ...extras })
}

/** Ends a span, and the lane's reasoning in it first. One that made room for something else has ended already. */
export function writeSpanEnd(run: Run, event: EventOf<'REASONING_END'>): void {
  const { type: _type, messageId, subagentRunId, ...extras } = event
  const span = openSpanOf(run, messageId, subagentRunId)
  if (!span) return
  for (const item of [...span.lane.open].reverse()) if (item.kind === 'reasoning') close(run, item)
  close(run, span, extras)
}

function openSpanOf(run: Run, rawId: string, tag: string | undefined): SpanItem | undefined {
  const tagged = tag === undefined ? undefined : run.lanes.get(tag)
  for (const lane of tagged ? [tagged] : [run.root, ...run.openLanes]) {
    const span = findSpan(lane, rawId)
    if (span) return span
  }
  return undefined
}

function findSpan(lane: Lane, rawId: string): SpanItem | undefined {
  for (const item of lane.open) if (item.kind === 'span' && item.rawId === rawId) return item
  return undefined
}
