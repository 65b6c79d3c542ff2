import type { Message, ToolMessage } from '@ag-ui/core'
import type { MessageChange } from '../../threads/contract.js'
import type { StoredIndex } from './message-index.js'

export interface Composition {
  /** How many stored messages stay. Undefined: all. */
  readonly cut: number | undefined
  readonly results: readonly ToolMessage[]
  /** What goes to the end. */
  readonly fresh: readonly Message[]
}

export interface Composed {
  readonly messages: readonly Message[]
  readonly change: MessageChange
}

/** Puts new messages into the stored ones: results right behind their calls and the results there, others at the end. */
export function compose(index: StoredIndex, { cut, results, fresh }: Composition): Composed {
  const stored = index.messages
  const end = cut ?? stored.length
  const inserts = placesOf(results, index, end)
  const keep = Math.min(end, ...inserts.keys())
  const append: Message[] = []
  for (let position = keep; position < end; position++) {
    append.push(...(inserts.get(position) ?? []), ...stored.slice(position, position + 1))
  }
  append.push(...(inserts.get(end) ?? []), ...fresh)
  return joined(stored, { keep, append })
}

/** The conversation after a change. The stored list itself when nothing changes. */
export function joined(stored: readonly Message[], change: MessageChange): Composed {
  const { keep, append } = change
  const isSame = keep === stored.length && append.length === 0
  return { messages: isSame ? stored : withNewEnd(stored, change), change }
}

function withNewEnd(stored: readonly Message[], { keep, append }: MessageChange): readonly Message[] {
  // Spread, since slicing a frozen array is many times slower in V8.
  const messages = [...stored]
  messages.length = keep
  for (const message of append) messages.push(message)
  return messages
}

/** Results by the stored position they come before. Those of calls that are cut off have none. */
function placesOf(
  results: readonly ToolMessage[],
  { messages, holderOf }: StoredIndex,
  end: number,
): Map<number, ToolMessage[]> {
  const placeBehind = new Map<number, number>()
  const places = new Map<number, ToolMessage[]>()
  for (const result of results) {
    // A call that is in no message any more: the end is the only place that is certainly behind it.
    const holder = holderOf(result.toolCallId) ?? end - 1
    if (holder >= end) continue
    let at = placeBehind.get(holder) ?? holder + 1
    while (at < end && messages[at]?.role === 'tool') at++
    placeBehind.set(holder, at)
    const group = places.get(at)
    if (group) group.push(result)
    else places.set(at, [result])
  }
  return places
}
