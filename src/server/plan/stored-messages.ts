import type { Message, ToolMessage } from '@ag-ui/core'
import type { MessageChange } from '../../threads/contract.js'

/** Finds stored messages by position. Of two with the same id, the first counts. */
export interface MessageIndex {
  readonly messages: readonly Message[]
  /** Positions of the messages of the conversation, without reasoning and activity. */
  readonly conversation: readonly number[]
  /**
   * The position of a client's message. Results are found by the call they answer. Quick when it is at `firstLook`: most
   * clients send their messages in the stored order.
   */
  readonly positionOf: (message: Message, firstLook: number) => number | undefined
  /** The position of the message that made a call. */
  readonly callerOf: (toolCallId: string) => number | undefined
  readonly hasResult: (toolCallId: string) => boolean
  readonly hasId: (id: string) => boolean
}

export function indexMessages(stored: readonly Message[]): MessageIndex {
  // A copy: V8 is many times slower at going through the frozen lists of some stores.
  const messages = [...stored]
  const conversation: number[] = []
  let position = -1
  for (const message of messages) {
    position++
    if (isConversation(message)) conversation.push(position)
  }
  let maps: Maps | undefined
  const getMaps = (): Maps => (maps ??= buildMaps(messages))
  let looks = 0
  const findById = (id: string): number | undefined => {
    if (maps || looks++ >= looksWithoutMaps) return getMaps().byId.get(id)
    const first = messages.findIndex((message) => message.id === id)
    return first === -1 ? undefined : first
  }
  return {
    messages,
    conversation,
    positionOf(message, firstLook) {
      const there = messages[firstLook]
      if (message.role !== 'tool') return there?.id === message.id ? firstLook : findById(message.id)
      const isThere = there?.role === 'tool' && there.toolCallId === message.toolCallId
      return isThere ? firstLook : getMaps().results.get(message.toolCallId)
    },
    callerOf: (toolCallId) => getMaps().callers.get(toolCallId),
    hasResult: (toolCallId) => getMaps().results.has(toolCallId),
    hasId: (id) => getMaps().byId.has(id),
  }
}

/** Most clients send the stored messages and one more. That one alone is not worth the maps. */
const looksWithoutMaps = 4

interface Maps {
  readonly byId: ReadonlyMap<string, number>
  readonly callers: ReadonlyMap<string, number>
  readonly results: ReadonlyMap<string, number>
}

function buildMaps(messages: readonly Message[]): Maps {
  const byId = new Map<string, number>()
  const callers = new Map<string, number>()
  const results = new Map<string, number>()
  for (const [position, message] of messages.entries()) {
    addFirst(byId, message.id, position)
    if (message.role === 'tool') addFirst(results, message.toolCallId, position)
    if (message.role !== 'assistant') continue
    for (const { id } of message.toolCalls ?? []) addFirst(callers, id, position)
  }
  return { byId, callers, results }
}

function addFirst(map: Map<string, number>, key: string, position: number): void {
  if (!map.has(key)) map.set(key, position)
}

/** Whether a message is part of the conversation. Clients may or may not send reasoning and activity back. */
export function isConversation({ role }: Message): boolean {
  return role !== 'reasoning' && role !== 'activity'
}

/** Whether a message is a prompt of the application. It does not show how far a conversation has come. */
export function isPrompt({ role }: Message): boolean {
  return role === 'system' || role === 'developer'
}

/**
 * Gives results ids of their own. Some clients give a result the id of its call, or of the message with the call; here an
 * id names one message.
 */
export function uniqueResultIds(
  messages: readonly Message[],
  isTaken: (id: string) => boolean,
): (result: ToolMessage) => ToolMessage {
  const uses = new Map<string, number>()
  for (const { id } of messages) uses.set(id, (uses.get(id) ?? 0) + 1)
  return (result) => {
    if (!isTaken(result.id) && uses.get(result.id) === 1) return result
    let id = `${result.toolCallId}-result`
    for (let n = 2; isTaken(id) || uses.has(id); n++) id = `${result.toolCallId}-result-${n}`
    uses.set(id, 1)
    return { ...result, id }
  }
}

interface NewMessages {
  /** How many stored messages stay. Undefined: all. */
  readonly keep: number | undefined
  readonly results: readonly ToolMessage[]
  /** Messages for the end. */
  readonly fresh: readonly Message[]
}

interface ChangedMessages {
  readonly messages: readonly Message[]
  readonly change: MessageChange
}

/** Inserts results behind their calls and the results there, and adds the others at the end. */
export function insertNewMessages(
  index: MessageIndex,
  { keep: end = index.messages.length, results, fresh }: NewMessages,
): ChangedMessages {
  const stored = index.messages
  const inserts = findPositions(results, index, end)
  const keep = Math.min(end, ...inserts.keys())
  const append: Message[] = []
  for (let position = keep; position < end; position++) {
    append.push(...(inserts.get(position) ?? []), ...stored.slice(position, position + 1))
  }
  append.push(...(inserts.get(end) ?? []), ...fresh)
  return applyMessageChange(stored, { keep, append })
}

/** The conversation after a change. The stored list itself when nothing changes. */
export function applyMessageChange(stored: readonly Message[], change: MessageChange): ChangedMessages {
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
