import type { TokenUsage } from '@ag-ui/core'
import type { Event } from '@google/adk'
import type { AdkLane } from './lanes.js'

type UsageMetadata = NonNullable<Event['usageMetadata']>

/** The known usage of one model call. */
export interface ModelCallUsage {
  usage: UsageMetadata
  model: string | undefined
  /** Chunks are coming in: the next event is of the same call. */
  isStreaming: boolean
  /** The model has sent its finish reason. */
  isOver: boolean
}

/**
 * Counts each model call once. All events of a call carry its usage so far: every chunk, the complete answer, and one
 * without content at the end of an answer with tools.
 */
export class UsageCounter {
  readonly #counted = new WeakSet<UsageMetadata>()
  readonly #addUsage: (usage: TokenUsage) => void

  constructor(addUsage: (usage: TokenUsage) => void) {
    this.#addUsage = addUsage
  }

  record(lane: AdkLane, event: Event): void {
    const { usageMetadata: usage, modelVersion, partial = false } = event
    if (!usage || (!partial && this.#counted.has(usage))) return
    let call = lane.usage
    if (call && !isSameCall(call, event)) {
      this.count(lane)
      call = undefined
    }
    if (call) {
      call.usage = usage
      call.model = modelVersion ?? call.model
      call.isStreaming = partial
    } else call = lane.usage = { usage, model: modelVersion, isStreaming: partial, isOver: false }
    if (partial) return
    call.isOver ||= event.finishReason !== undefined
    // One more event follows an answer with calls. Nothing follows any other answer.
    if (call.isOver && !hasFunctionCalls(event)) this.count(lane)
  }

  /** Call it when a model call breaks off: the next event is of another call. */
  breakOff({ usage }: AdkLane): void {
    if (!usage) return
    usage.isStreaming = false
    usage.isOver = true
  }

  /** Counts the current call of a lane, if it is not counted yet. */
  count(lane: AdkLane): void {
    const call = lane.usage
    if (!call) return
    lane.usage = undefined
    this.#counted.add(call.usage)
    const usage = fromUsageMetadata(call)
    if (usage) this.#addUsage(usage)
  }
}

/**
 * Nothing in an event names its model call. The prompt of a call does not change, and its count only grows; the prompt of
 * the next call has the results of the tools in addition.
 */
function isSameCall({ usage, isStreaming, isOver }: ModelCallUsage, event: Event): boolean {
  const next = event.usageMetadata
  if (next === usage || isStreaming || isEndOfAnswer(event)) return true
  if (isOver || next?.promptTokenCount !== usage.promptTokenCount) return false
  return (next?.totalTokenCount ?? 0) > (usage.totalTokenCount ?? 0)
}

/** Whether an event is the one without content with which ADK ends a streamed answer. Only streamed answers have `partial`. */
export function isEndOfAnswer({ content, partial }: Event): boolean {
  return partial === false && !content?.parts?.length
}

export function hasFunctionCalls({ content }: Event): boolean {
  return content?.parts?.some(({ functionCall }) => functionCall !== undefined) ?? false
}

/** In AG-UI's terms: input includes tokens of tools, output those of thoughts. 0 means not known. */
function fromUsageMetadata({ usage, model }: ModelCallUsage): TokenUsage | undefined {
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
