import type { Message } from '@ag-ui/core'
import type { EstimateTokens } from './estimate-tokens.js'

export interface CutOptions {
  /** Where the part that may be cut begins. */
  readonly from: number
  /** How many tokens of the newest messages are kept. */
  readonly keepTokens: number
  readonly estimate: EstimateTokens
}

/**
 * Where the newest part of a conversation begins that is kept: as much as fits into `keepTokens`, or else the least
 * that can stand alone. Gives `from` when there is nothing to cut. Takes time linear in the length.
 */
export function findCut(messages: readonly Message[], { from, keepTokens, estimate }: CutOptions): number {
  const canBegin = beginnings(messages)
  let tokens = 0
  let cut = messages.length
  for (let position = messages.length - 1; position >= from; position--) {
    const message = messages[position]
    if (message !== undefined) tokens += estimate(message)
    if (tokens > keepTokens && cut < messages.length) return cut
    if (canBegin[position] === true) cut = position
  }
  return from
}

/**
 * Which messages a conversation may begin with: no result without its call, no answer without its reasoning, which
 * some providers insist on.
 */
function beginnings(messages: readonly Message[]): boolean[] {
  const lastResults = positionsOfLastResults(messages)
  let reach = -1
  return messages.map((message, position) => {
    const isReasoned = messages[position - 1]?.role === 'reasoning' && message.role === 'assistant'
    const canBegin = reach < position && message.role !== 'tool' && !isReasoned
    reach = Math.max(reach, lastResults.get(position) ?? -1)
    return canBegin
  })
}

/** For each message with tool calls, where the last of their results is. */
function positionsOfLastResults(messages: readonly Message[]): Map<number, number> {
  const holders = new Map<string, number>()
  const lastResults = new Map<number, number>()
  for (const [position, message] of messages.entries()) {
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) holders.set(id, position)
    const holder = message.role === 'tool' ? holders.get(message.toolCallId) : undefined
    if (holder !== undefined) lastResults.set(holder, position)
  }
  return lastResults
}
