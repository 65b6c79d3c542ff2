import type { Message, ToolMessage } from '@ag-ui/core'
import type { MessageChange } from '../../threads/contract.js'
import type { MessageIndex } from './message-index.js'

export interface NewMessages {
  /** How many stored messages stay. Undefined: all. */
  readonly cut: number | undefined
  readonly results: readonly ToolMessage[]
  /** What goes to the end. */
  readonly fresh: readonly Message[]
}

export interface ChangedMessages {
  readonly messages: readonly Message[]
  readonly change: MessageChange
}

/** Inserts results behind their calls and the results there, and adds the others at the end. */
export function insertMessages(index: MessageIndex, { cut, results, fresh }: NewMessages): ChangedMessages {
  const stored = index.messages
  const end = cut ?? stored.length
  const inserts = findPositions(results, index, end)
  const keep = Math.min(end, ...inserts.keys())
  const append: Message[] = []
  for (let position = keep; position < end; position++) {
    append.push(...(inserts.get(position) ?? []), ...stored.slice(position, position + 1))
  }
  append.push(...(inserts.get(end) ?? []), ...fresh)
  return changeMessages(stored, { keep, append })
}

/** The conversation after a change. The stored list itself when nothing changes. */
export function changeMessages(stored: readonly Message[], change: MessageChange): ChangedMessages {
  const { keep, append } = change
  if (keep === stored.length && append.length === 0) return { messages: stored, change }
  // Spread, since slicing a frozen array is many times slower in V8.
  const messages = [...stored]
  messages.length = keep
  for (const message of append) messages.push(message)
  return { messages, change }
}

/** Results by the stored position they come before, without those of calls that are cut off. */
function findPositions(
  results: readonly ToolMessage[],
  { messages, callerOf }: MessageIndex,
  end: number,
): Map<number, ToolMessage[]> {
  const positionByCaller = new Map<number, number>()
  const byPosition = new Map<number, ToolMessage[]>()
  for (const result of results) {
    // Without a message that made the call, only the end is certainly behind it.
    const caller = callerOf(result.toolCallId) ?? end - 1
    if (caller >= end) continue
    let position = positionByCaller.get(caller) ?? caller + 1
    while (position < end && messages[position]?.role === 'tool') position++
    positionByCaller.set(caller, position)
    const group = byPosition.get(position)
    if (group) group.push(result)
    else byPosition.set(position, [result])
  }
  return byPosition
}
