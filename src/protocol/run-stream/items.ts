import { mergeMetadata } from '@ag-ui/core'
import { type Extras, type Item, type Lane, type MessageItem, type RunState, laneTag } from './run-state.js'

/**
 * Opens an item in its lane, which writes one thing at a time: reasoning ends before text begins, text before a tool
 * call. Sticky items stay open, and so does the span around reasoning. The caller emits the start.
 */
export function openItem(run: RunState, item: Item): void {
  for (const other of newestFirst(item.lane)) {
    const isNeeded = other.kind === 'span' && (item.kind === 'reasoning' || hasReasoning(item.lane))
    if (!other.sticky && !isNeeded) closeItem(run, other)
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

function hasReasoning(lane: Lane): boolean {
  for (const { kind } of lane.open) if (kind === 'reasoning') return true
  return false
}

function newestFirst(lane: Lane): Item[] {
  return lane.open.size === 0 ? [] : [...lane.open].reverse()
}

/** Saves the extras of an unsent event, an empty delta for example, for the item's next event. */
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

/** A message as its agent names it: the id alone may be used in several lanes. */
interface LaneMessage {
  readonly lane: Lane
  /** The id as the agent writes it. */
  readonly id: string
}

/**
 * The message item of an id, made if it is new. An agent may use one id for two things: the same in two subagents, one
 * for a text and for its reasoning, one that an earlier run of the thread used. Clients would write both into one
 * message, so the first claimant keeps the id and the others are renamed, consistently for the rest of the run.
 */
export function claimMessage(
  run: RunState,
  kind: MessageItem['kind'],
  { lane, id }: LaneMessage,
): MessageItem {
  const first = run.messages[kind].get(id)
  const known = first?.lane === lane ? first : renamedMessage(run, kind, { lane, id })
  if (known) return known
  const item: MessageItem = {
    kind,
    id: freeMessageId(run, id, kind === 'reasoning' ? lane : undefined),
    lane,
    isOpen: false,
    wasOpen: false,
    sticky: false,
    role: 'assistant',
    name: undefined,
  }
  if (kind === 'reasoning') run.reasoningOwners.set(item.id, lane.id)
  if (first) (run.renamed ??= new Map()).set(renamedKey(kind, { lane, id }), item)
  else run.messages[kind].set(id, item)
  return item
}

/** The item of a lane whose id had to be changed, by the id the agent uses. */
export function renamedMessage(
  run: RunState,
  kind: MessageItem['kind'],
  message: LaneMessage,
): MessageItem | undefined {
  return run.renamed?.get(renamedKey(kind, message))
}

/** All items of this run that an agent gave this id, whatever their lane and kind. */
export function messageItemsOf(run: RunState, id: string): MessageItem[] {
  const first = [run.messages.text.get(id), run.messages.reasoning.get(id)].filter(
    (item) => item !== undefined,
  )
  const renamed = [...(run.renamed ?? [])].filter(([key]) => key.endsWith(` ${id}`)).map(([, item]) => item)
  return [...first, ...renamed]
}

function renamedKey(kind: MessageItem['kind'], { lane, id }: LaneMessage): string {
  return `${kind} ${lane.key} ${id}`
}

/** A message id that is free in this thread. With `reasoningOf`, nor any other lane's reasoning. */
export function freeMessageId(run: RunState, base: string, reasoningOf?: Lane): string {
  const id = freeId(
    base,
    (id) =>
      run.claimed.has(id) ||
      run.fold.list.get(id) !== undefined ||
      (reasoningOf !== undefined && isReasoningOfOther(run, id, reasoningOf)),
  )
  run.claimed.add(id)
  return id
}

/** A span id no other lane uses. Spans and reasoning messages are two namespaces of ids with one record of owners. */
export function freeSpanId(run: RunState, base: string, lane: Lane): string {
  const id = freeId(base, (id) => isReasoningOfOther(run, id, lane))
  run.reasoningOwners.set(id, lane.id)
  return id
}

function isReasoningOfOther(run: RunState, reasoningId: string, lane: Lane): boolean {
  return run.reasoningOwners.has(reasoningId) && run.reasoningOwners.get(reasoningId) !== lane.id
}

/** `base`, or the first of `base~2`, `base~3`, ... that is not taken. */
export function freeId(base: string, isTaken: (id: string) => boolean, separator = '~'): string {
  let id = base
  for (let n = 2; isTaken(id); n++) id = `${base}${separator}${n}`
  return id
}
