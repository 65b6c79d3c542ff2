import type { TokenUsage } from '@ag-ui/core'
import { isRecord } from '../../core/json.js'
import type { FinishPart } from './specification.js'

export interface UsageLabels {
  readonly provider: string
  readonly model: string
}

type Counts = Readonly<Record<Exclude<keyof TokenUsage, keyof UsageLabels>, number | undefined>>

/**
 * Converts the usage of a finished call. As AG-UI wants it, input and output include their cached and reasoning tokens,
 * and unknown counts are absent. Providers write 0 for unknown counts, so 0 is left out too.
 */
export function fromAiSdkUsage(
  { usage, providerMetadata }: FinishPart,
  labels: UsageLabels,
): TokenUsage | undefined {
  if (!isRecord(usage)) return undefined
  const { inputTokens, outputTokens } = usage
  const isNested = isRecord(inputTokens) || isRecord(outputTokens)
  const counts = isNested ? nestedCounts(usage) : flatCounts(usage, providerMetadata?.anthropic)
  const known = Object.entries(counts).filter(([, value]) => value !== undefined)
  return known.length === 0 ? undefined : { ...labels, ...Object.fromEntries(known) }
}

/** v3 and v4: totals with a breakdown. */
function nestedCounts(usage: Record<string, unknown>): Counts {
  const input = isRecord(usage.inputTokens) ? usage.inputTokens : {}
  const output = isRecord(usage.outputTokens) ? usage.outputTokens : {}
  const inputTokens = toCount(input.total)
  const outputTokens = toCount(output.total)
  return {
    inputTokens,
    outputTokens,
    totalTokens: sum(inputTokens, outputTokens),
    reasoningTokens: toCount(output.reasoning),
    cachedInputTokens: toCount(input.cacheRead),
    cacheWriteInputTokens: toCount(input.cacheWrite),
  }
}

/**
 * v2: flat, and providers disagree about what is included. Anthropic counts cached input separately. Google counts
 * reasoning separately, which shows in the total.
 */
function flatCounts(usage: Record<string, unknown>, anthropic: Record<string, unknown> | undefined): Counts {
  const [input, output] = [toCount(usage.inputTokens), toCount(usage.outputTokens)]
  const [reasoningTokens, cachedInputTokens] = [
    toCount(usage.reasoningTokens),
    toCount(usage.cachedInputTokens),
  ]
  const cacheWriteInputTokens = toCount(anthropic?.cacheCreationInputTokens)
  const reported = toCount(usage.totalTokens)

  const separateCached = anthropic === undefined ? 0 : (cachedInputTokens ?? 0) + (cacheWriteInputTokens ?? 0)
  const isReasoningSeparate = reported !== undefined && reported === sum(sum(input, output), reasoningTokens)
  const inputTokens = toCount((input ?? 0) + separateCached)
  const outputTokens = isReasoningSeparate ? sum(output, reasoningTokens) : output
  return {
    inputTokens,
    outputTokens,
    totalTokens: sum(inputTokens, outputTokens) ?? reported,
    reasoningTokens,
    cachedInputTokens,
    cacheWriteInputTokens,
  }
}

function toCount(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b
}
