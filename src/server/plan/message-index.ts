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

export function indexStored(stored: readonly Message[]): StoredIndex {
  // Stores may give a frozen list, which V8 is many times slower at going through.
  const messages = [...stored]
  const spoken: number[] = []
  let position = -1
  for (const message of messages) {
    position++
    if (isSpoken(message)) spoken.push(position)
  }
  let maps: Maps | undefined
  const lookUp = (): Maps => (maps ??= mapsOf(messages))
  let looks = 0
  const byId = (id: string): number | undefined => {
    if (maps || looks++ >= looksWithoutMaps) return lookUp().byId.get(id)
    const first = messages.findIndex((message) => message.id === id)
    return first === -1 ? undefined : first
  }
  return {
    messages,
    spoken,
    positionOf(message, firstLook) {
      const there = messages[firstLook]
      if (message.role !== 'tool') return there?.id === message.id ? firstLook : byId(message.id)
      const isThere = there?.role === 'tool' && there.toolCallId === message.toolCallId
      return isThere ? firstLook : lookUp().results.get(message.toolCallId)
    },
    holderOf: (toolCallId) => lookUp().holders.get(toolCallId),
    hasResult: (toolCallId) => lookUp().results.has(toolCallId),
    hasId: (id) => lookUp().byId.has(id),
  }
}

/** Most clients have what is stored and one message more: for that one alone no maps are made. */
const looksWithoutMaps = 4

interface Maps {
  readonly byId: ReadonlyMap<string, number>
  readonly holders: ReadonlyMap<string, number>
  readonly results: ReadonlyMap<string, number>
}

function mapsOf(messages: readonly Message[]): Maps {
  const byId = new Map<string, number>()
  const holders = new Map<string, number>()
  const results = new Map<string, number>()
  for (const [position, message] of messages.entries()) {
    addFirst(byId, message.id, position)
    if (message.role === 'tool') addFirst(results, message.toolCallId, position)
    if (message.role !== 'assistant') continue
    for (const { id } of message.toolCalls ?? []) addFirst(holders, id, position)
  }
  return { byId, holders, results }
}

/** Whether a message is part of what is said. Clients may or may not send the others back. */
export function isSpoken({ role }: Message): boolean {
  return role !== 'reasoning' && role !== 'activity'
}

/** Whether a message is a prompt of the application: it says nothing of how far a conversation has come. */
export function isPrompt({ role }: Message): boolean {
  return role === 'system' || role === 'developer'
}

function addFirst(map: Map<string, number>, key: string, position: number): void {
  if (!map.has(key)) map.set(key, position)
}
