import { isRecord, typeOf } from './json.js'
import type { RunFile } from './run-file.js'

/** Tokens that one model has used. */
export interface ModelUsage {
  readonly model: string
  readonly inputTokens: number
  readonly cachedInputTokens: number
  readonly outputTokens: number
}

/** What a person says that a million tokens cost. Nothing is known beforehand. */
export interface Price {
  readonly input: number
  readonly output: number
}

export type Prices = Readonly<Record<string, Price>>

/** Tokens by model, as the ends of the runs in the stream tell; else as the model's answers did. */
export function usageOf({ events, requests }: Pick<RunFile, 'events' | 'requests'>): readonly ModelUsage[] {
  const ends = events.flatMap(({ event }) =>
    isRecord(event) && /^RUN_(FINISHED|ERROR)$/.test(typeOf(event) ?? '') && Array.isArray(event.usage)
      ? (event.usage as unknown[])
      : [],
  )
  const entries = ends.length > 0 ? ends : requests.map(({ usage, model }) => ({ model, ...asRecord(usage) }))
  const byModel = new Map<string, ModelUsage>()
  for (const entry of entries.filter(isRecord)) {
    const used = toUsage(entry)
    const before = byModel.get(used.model)
    if (used.inputTokens + used.outputTokens > 0) byModel.set(used.model, before ? add(before, used) : used)
  }
  return [...byModel.values()]
}

/** What it has cost. Undefined when no price was given. */
export function costOf(usage: ModelUsage, price: Price | undefined): number | undefined {
  return price && (usage.inputTokens * price.input + usage.outputTokens * price.output) / 1_000_000
}

/** Reads prices that were saved. Whatever is none is left out. */
export function parsePrices(text: string | null): Prices {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    const entries = Object.entries(asRecord(value)).flatMap(([model, price]) => {
      const { input, output } = asRecord(price)
      return isAmount(input) && isAmount(output) ? [[model, { input, output }] as const] : []
    })
    return Object.fromEntries(entries)
  } catch {
    return {}
  }
}

function toUsage(entry: Record<string, unknown>): ModelUsage {
  const name = typeof entry.model === 'string' ? entry.model : ''
  const provider = typeof entry.provider === 'string' && entry.provider !== '' ? `${entry.provider}/` : ''
  return {
    model: name.includes('/') ? name : `${provider}${name}`,
    inputTokens: count(entry.inputTokens),
    cachedInputTokens: count(entry.cachedInputTokens),
    outputTokens: count(entry.outputTokens),
  }
}

function add(a: ModelUsage, b: ModelUsage): ModelUsage {
  return {
    model: a.model,
    inputTokens: a.inputTokens + b.inputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  }
}

function count(value: unknown): number {
  return isAmount(value) ? value : 0
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}
