import { aggregateTokenUsage, type TokenUsage } from '@ag-ui/core'
import { TokenUsageSchema } from '@ag-ui/core/schemas'
import { toShape } from './check/schema-shape.js'

const usageShape = toShape(TokenUsageSchema)

/**
 * Adds up the usage of model calls: one entry per provider and model. Leaves out broken counts, which must not spoil the
 * sum or fail the run.
 */
export function sumUsage(calls: readonly TokenUsage[]): TokenUsage[] {
  const valid = calls.flatMap((call) => {
    const fields = Object.entries(call).filter(([key, value]) => isUsageField(key, value))
    return fields.length > 0 ? [Object.fromEntries(fields)] : []
  })
  return aggregateTokenUsage(valid.map(withAllCounts)).map(withTotal)
}

/** Computes the count that the other two give, so that calls which report different counts add up. */
function withAllCounts(usage: TokenUsage): TokenUsage {
  const { inputTokens: input, outputTokens: output, totalTokens: total } = usage
  if (total === undefined || (input === undefined) === (output === undefined)) return usage
  const rest = total - (input ?? output ?? 0)
  if (rest < 0) return usage
  return input === undefined ? { ...usage, inputTokens: rest } : { ...usage, outputTokens: rest }
}

/** AG-UI's total is input plus output. A reported total stands only where neither is known. */
function withTotal({ totalTokens, provider, model, ...usage }: TokenUsage): TokenUsage {
  const { inputTokens: input, outputTokens: output } = usage
  const isTotalOnly = input === undefined && output === undefined
  const total =
    input !== undefined && output !== undefined ? input + output : isTotalOnly ? totalTokens : undefined
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...usage,
    ...(total === undefined ? {} : { totalTokens: total }),
  }
}

function isUsageField(key: string, value: unknown): boolean {
  if (usageShape.kind !== 'object') return false
  const field = usageShape.fields.get(key)?.shape
  return field?.kind === 'leaf' && value !== undefined && field.check(value)
}
