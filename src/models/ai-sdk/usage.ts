import type { TokenUsage } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'
import type { FinishPart } from './provider-part.js'

/** Whose usage it is. */
export interface UsageLabels {
  readonly provider: string
  readonly model: string
}

type Counts = Readonly<Record<Exclude<keyof TokenUsage, keyof UsageLabels>, number | undefined>>

/**
 * What a finished call reports, in the terms of AG-UI: input and output include their cached and reasoning parts, and
 * what is unknown is absent. Providers write 0 for a count they were not told, so 0 is unknown too.
 */
export function toTokenUsage(
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

/** Versions 3 and 4: totals with their parts below them. */
function nestedCounts(usage: Record<string, unknown>): Counts {
  const input = isRecord(usage.inputTokens) ? usage.inputTokens : {}
  const output = isRecord(usage.outputTokens) ? usage.outputTokens : {}
  const inputTokens = count(input.total)
  const outputTokens = count(output.total)
  return {
    inputTokens,
    outputTokens,
    totalTokens: sum(inputTokens, outputTokens),
    reasoningTokens: count(output.reasoning),
    cachedInputTokens: count(input.cacheRead),
    cacheWriteInputTokens: count(input.cacheWrite),
  }
}

/**
 * Version 2: flat, and providers disagree about what is included. Anthropic counts cached input apart. Google counts
 * reasoning apart, which shows in the total.
 */
function flatCounts(usage: Record<string, unknown>, anthropic: Record<string, unknown> | undefined): Counts {
  const [input, output] = [count(usage.inputTokens), count(usage.outputTokens)]
  const [reasoningTokens, cachedInputTokens] = [count(usage.reasoningTokens), count(usage.cachedInputTokens)]
  const cacheWriteInputTokens = count(anthropic?.cacheCreationInputTokens)
  const reported = count(usage.totalTokens)

  const cachedApart = anthropic === undefined ? 0 : (cachedInputTokens ?? 0) + (cacheWriteInputTokens ?? 0)
  const isReasoningApart = reported !== undefined && reported === sum(sum(input, output), reasoningTokens)
  const inputTokens = count((input ?? 0) + cachedApart)
  const outputTokens = isReasoningApart ? sum(output, reasoningTokens) : output
  return {
    inputTokens,
    outputTokens,
    totalTokens: sum(inputTokens, outputTokens) ?? reported,
    reasoningTokens,
    cachedInputTokens,
    cacheWriteInputTokens,
  }
}

function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b
}
