import { mergeMetadata } from '@ag-ui/core'
import { laneTag, type Extras, type Item, type Lane, type RunState } from './run-state.js'

/**
 * Opens an item in its lane, which writes one thing at a time: reasoning ends before text begins, text before a tool
 * call. Sticky items stay open, and so does the span around a new reasoning message. The caller emits the start.
 */
export function openItem(run: RunState, item: Item): void {
  for (const other of newestFirst(item.lane)) {
    if (!other.sticky && !(item.kind === 'reasoning' && other.kind === 'span')) closeItem(run, other)
  }
  item.isOpen = true
  item.lane.open.add(item)
}

/** Emits the end of an item, and the encrypted value that waits for it. Ignored when the item is closed. */
export function closeItem(run: RunState, item: Item, extras?: Extras): void {
  if (!item.isOpen) return
  item.isOpen = false
  item.lane.open.delete(item)
  if (extras) carry(item, extras)
  const rest = { ...laneTag(item.lane), ...takeCarried(item) }
  switch (item.kind) {
    case 'text':
      run.emit({ type: 'TEXT_MESSAGE_END', messageId: item.id, ...rest })
      break
    case 'reasoning':
      run.emit({ type: 'REASONING_MESSAGE_END', messageId: item.id, ...rest })
      break
    case 'span':
      run.emit({ type: 'REASONING_END', messageId: item.id, ...rest })
      break
    case 'call':
      run.emit({ type: 'TOOL_CALL_END', toolCallId: item.id, ...rest })
  }
  const { encryptedValue } = item
  item.encryptedValue = undefined
  if (encryptedValue) run.emit(encryptedValue)
}

/** Closes every item of a lane, the newest first: messages before the span around them. */
export function closeItems(run: RunState, lane: Lane): void {
  for (const item of newestFirst(lane)) closeItem(run, item)
}

function newestFirst(lane: Lane): Item[] {
  return lane.open.size === 0 ? [] : [...lane.open].reverse()
}

/** Saves the extras of an event for the next one that is sent of the item: an empty delta, say, is not sent. */
export function carry(item: Item, extras: Extras): void {
  const metadata = mergeMetadata(item.carried?.metadata, extras.metadata)
  item.carried = { ...item.carried, ...extras, ...(metadata === undefined ? {} : { metadata }) }
}

/** Takes the extras that an item carries for its next event. */
export function takeCarried(item: Item): Extras {
  const { carried = {} } = item
  item.carried = undefined
  return carried
}

/** The extras of an event. */
export function eventExtras({ timestamp, rawEvent, metadata }: Extras): Extras {
  return {
    ...(timestamp === undefined ? {} : { timestamp }),
    ...(rawEvent === undefined ? {} : { rawEvent: rawEvent as unknown }),
    ...(metadata === undefined ? {} : { metadata }),
  }
}
