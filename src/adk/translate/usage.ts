import type { TokenUsage } from '@ag-ui/core'
import type { Event } from '@google/adk'
import type { Lane } from './lane.js'

type UsageMetadata = NonNullable<Event['usageMetadata']>

/** What one call of a model has used, as far as it is known. */
export interface Bill {
  usage: UsageMetadata
  model: string | undefined
  /** Pieces are coming in: whatever comes next is of the same call. */
  isStreaming: boolean
  /** The model gave its reason to finish. */
  isOver: boolean
}

export interface UsageCounter {
  /** Takes what an event says about the use of tokens. */
  note(lane: Lane, event: Event): void
  /** The model call that is under way broke off: the next event is of another one. */
  breakOff(lane: Lane): void
  /** Counts what is not counted yet. */
  settle(lane: Lane): void
}

/**
 * Counts each call of a model once. Its events all carry what it has used so far: every piece, the whole, and one
 * without content at the end of a turn with tools.
 */
export function createUsageCounter(addUsage: (usage: TokenUsage) => void): UsageCounter {
  const counted = new WeakSet<UsageMetadata>()
  const settle = (lane: Lane): void => {
    const { bill } = lane
    if (!bill) return
    lane.bill = undefined
    counted.add(bill.usage)
    const usage = toTokenUsage(bill)
    if (usage) addUsage(usage)
  }
  return {
    settle,
    note(lane, event) {
      const { usageMetadata: usage, modelVersion, partial = false } = event
      if (!usage || (!partial && counted.has(usage))) return
      let { bill } = lane
      if (bill && !isSameCall(bill, event)) {
        settle(lane)
        bill = undefined
      }
      if (bill) {
        bill.usage = usage
        bill.model = modelVersion ?? bill.model
        bill.isStreaming = partial
      } else {
        bill = lane.bill = { usage, model: modelVersion, isStreaming: partial, isOver: false }
      }
      if (partial) return
      bill.isOver ||= event.finishReason !== undefined
      // After a call comes one more event. Nothing comes after an answer, and whatever ends the run, this is counted.
      if (bill.isOver && !hasCalls(event)) settle(lane)
    },
    breakOff({ bill }) {
      if (!bill) return
      bill.isStreaming = false
      bill.isOver = true
    },
  }
}

/**
 * Nothing in an event says which call of the model it is from. One call never gets another prompt, and its count only
 * grows; the next call has at least the answers of the tools in its prompt.
 */
function isSameCall({ usage, isStreaming, isOver }: Bill, event: Event): boolean {
  const next = event.usageMetadata
  if (next === usage || isStreaming || isTail(event)) return true
  if (isOver || next?.promptTokenCount !== usage.promptTokenCount) return false
  return (next?.totalTokenCount ?? 0) > (usage.totalTokenCount ?? 0)
}

/** The event without content that ADK ends a streamed turn with. Answers that are not streamed say nothing of parts. */
export function isTail({ content, partial }: Event): boolean {
  return partial === false && !content?.parts?.length
}

export function hasCalls({ content }: Event): boolean {
  return content?.parts?.some(({ functionCall }) => functionCall !== undefined) ?? false
}

/** In the terms of AG-UI: input has the tokens of tools, output those of thoughts; 0 means not known. */
function toTokenUsage({ usage, model }: Bill): TokenUsage | undefined {
  const input = (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0)
  const output = (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0)
  const counts: Readonly<Record<Exclude<keyof TokenUsage, 'provider' | 'model'>, number>> = {
    inputTokens: input,
    outputTokens: output,
    totalTokens: input > 0 && output > 0 ? input + output : (usage.totalTokenCount ?? 0),
    reasoningTokens: usage.thoughtsTokenCount ?? 0,
    cachedInputTokens: usage.cachedContentTokenCount ?? 0,
    cacheWriteInputTokens: 0,
  }
  const known = Object.entries(counts).filter(([, count]) => Number.isSafeInteger(count) && count > 0)
  if (known.length === 0) return undefined
  return { ...(model === undefined ? {} : { model }), ...Object.fromEntries(known) }
}
