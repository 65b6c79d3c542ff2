import { mergeMetadata } from '@ag-ui/core'
import { owner, type Extras, type Item, type Lane, type Run } from './run.js'

/** Notes that an item is open now; what else the lane holds open makes room for it. */
export function opened(run: Run, item: Item): void {
  makeRoom(run, item)
  item.isOpen = true
  item.lane.open.add(item)
}

/**
 * A lane says one thing at a time: reasoning ends before text begins, text before a tool call. Sticky items are left
 * alone, and so is the span around a new reasoning message.
 */
function makeRoom(run: Run, item: Item): void {
  for (const other of newestFirst(item.lane)) {
    if (other.sticky || (item.kind === 'reasoning' && other.kind === 'span')) continue
    close(run, other)
  }
}

/** Emits the end of an item, once. */
export function close(run: Run, item: Item, extras?: Extras): void {
  if (!item.isOpen) return
  item.isOpen = false
  item.lane.open.delete(item)
  if (extras) carry(item, extras)
  const rest = { ...owner(item.lane), ...takeCarried(item) }
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

/** Keeps the extras of an event for the next one that is sent of the item: an empty delta, say, is not sent. */
export function carry(item: Item, extras: Extras): void {
  const metadata = mergeMetadata(item.carried?.metadata, extras.metadata)
  item.carried = { ...item.carried, ...extras, ...(metadata === undefined ? {} : { metadata }) }
}

/** The extras an item holds for its next event. */
export function takeCarried(item: Item): Extras {
  const { carried = {} } = item
  item.carried = undefined
  return carried
}

/** Closes every item and step of a lane: messages before the span around them, the newest first. */
export function closeAll(run: Run, lane: Lane): void {
  closeItems(run, lane)
  for (const stepName of [...lane.steps].reverse()) {
    run.emit({ type: 'STEP_FINISHED', stepName, ...owner(lane) })
  }
  lane.steps = []
}

export function closeItems(run: Run, lane: Lane): void {
  for (const item of newestFirst(lane)) close(run, item)
}

function newestFirst(lane: Lane): Item[] {
  return lane.open.size === 0 ? [] : [...lane.open].reverse()
}
