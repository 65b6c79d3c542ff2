import type { Message, TokenUsage } from '@ag-ui/core'
import type { RunContext } from '../contract.js'

/** What stands for the conversation up to and including a message. */
export interface Summary {
  readonly upTo: string
  readonly text: string
}

/** How many tokens a provider counted for a request that ended with this message. */
export interface Measured {
  readonly upTo: string
  readonly tokens: number
}

// Values are shared by all agents of a run, and each has a conversation of its own.
const summaryKey = (ctx: RunContext) => `millrace:summary:${ctx.span.address}`
const measuredKey = (ctx: RunContext) => `millrace:measured:${ctx.span.address}`

export function readSummary(ctx: RunContext): Summary | undefined {
  const value = ctx.values.get(summaryKey(ctx))
  if (typeof value !== 'object' || value === null || !('upTo' in value && 'text' in value)) return undefined
  const { upTo, text } = value
  return typeof upTo === 'string' && typeof text === 'string' ? { upTo, text } : undefined
}

/** Also forgets what was measured: it holds for the conversation with the summary before. */
export function saveSummary(ctx: RunContext, { upTo, text }: Summary): void {
  ctx.values.set(summaryKey(ctx), { upTo, text })
  ctx.values.delete(measuredKey(ctx))
}

export function readMeasured(ctx: RunContext): Measured | undefined {
  const value = ctx.values.get(measuredKey(ctx))
  if (typeof value !== 'object' || value === null || !('upTo' in value && 'tokens' in value)) return undefined
  const { upTo, tokens } = value
  return typeof upTo === 'string' && typeof tokens === 'number' ? { upTo, tokens } : undefined
}

/** Keeps nothing when the provider has not told. */
export function saveMeasured(ctx: RunContext, messages: readonly Message[], usage?: TokenUsage): void {
  const upTo = messages.at(-1)?.id
  const tokens = usage?.inputTokens
  if (upTo !== undefined && tokens !== undefined) ctx.values.set(measuredKey(ctx), { upTo, tokens })
}
