import type { Message } from '@ag-ui/core'

/** Finds things in the stored messages, by position. Where an id is used twice, the first one counts. */
export interface StoredIndex {
  readonly messages: readonly Message[]
  /** Positions of the messages that make up the conversation, without reasoning and activity. */
  readonly spoken: readonly number[]
  /**
   * Where a client's message is. Results are found by the call they answer. Quick when it is where it is looked for
   * first: most lists of clients are in the order of the stored one.
   */
  readonly positionOf: (message: Message, firstLook: number) => number | undefined
  /** Where the message is that made a call. */
  readonly holderOf: (toolCallId: string) => number | undefined
  readonly hasResult: (toolCallId: string) => boolean
  readonly hasId: (id: string) => boolean
}

export function indexStored(messages: readonly Message[]): StoredIndex {
  const spoken: number[] = []
  const byId = new Map<string, number>()
  const holders = new Map<string, number>()
  const results = new Map<string, number>()
  let position = -1
  for (const message of messages) {
    position++
    if (isSpoken(message)) spoken.push(position)
    addFirst(byId, message.id, position)
    if (message.role === 'tool') addFirst(results, message.toolCallId, position)
    if (message.role !== 'assistant') continue
    for (const { id } of message.toolCalls ?? []) addFirst(holders, id, position)
  }
  const hasOwnIds = byId.size === messages.length
  return {
    messages,
    spoken,
    positionOf(message, firstLook) {
      if (message.role === 'tool') return results.get(message.toolCallId)
      return hasOwnIds && messages[firstLook]?.id === message.id ? firstLook : byId.get(message.id)
    },
    holderOf: (toolCallId) => holders.get(toolCallId),
    hasResult: (toolCallId) => results.has(toolCallId),
    hasId: (id) => byId.has(id),
  }
}

/** Whether a message is part of what is said. Clients may or may not send the others back. */
export function isSpoken({ role }: Message): boolean {
  return role !== 'reasoning' && role !== 'activity'
}

function addFirst(map: Map<string, number>, key: string, position: number): void {
  if (!map.has(key)) map.set(key, position)
}
