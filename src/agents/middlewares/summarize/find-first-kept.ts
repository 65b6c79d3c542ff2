import type { Message } from '@ag-ui/core'
import type { EstimateTokens } from './estimate-tokens.js'

export interface FirstKeptOptions {
  /** The first message that may be cut off. */
  readonly from: number
  /** The tokens of the newest messages to keep. */
  readonly keepTokens: number
  readonly estimate: EstimateTokens
}

/**
 * The index of the first message to keep: as many of the newest as fit into `keepTokens`, or else the fewest that are a
 * valid conversation. Returns `from` if there is nothing to cut. Takes linear time.
 */
export function findFirstKept(
  messages: readonly Message[],
  { from, keepTokens, estimate }: FirstKeptOptions,
): number {
  const canBegin = findValidStarts(messages)
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

/** A conversation may not begin with a result without its call, nor, for some providers, an answer without its reasoning. */
function findValidStarts(messages: readonly Message[]): boolean[] {
  const lastResults = findLastResults(messages)
  let lastResult = -1
  return messages.map((message, position) => {
    const isReasoned = messages[position - 1]?.role === 'reasoning' && message.role === 'assistant'
    const canBegin = lastResult < position && message.role !== 'tool' && !isReasoned
    lastResult = Math.max(lastResult, lastResults.get(position) ?? -1)
    return canBegin
  })
}

/** For each message with tool calls, the position of their last result. */
function findLastResults(messages: readonly Message[]): Map<number, number> {
  const callers = new Map<string, number>()
  const lastResults = new Map<number, number>()
  for (const [position, message] of messages.entries()) {
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) callers.set(id, position)
    const caller = message.role === 'tool' ? callers.get(message.toolCallId) : undefined
    if (caller !== undefined) lastResults.set(caller, position)
  }
  return lastResults
}
