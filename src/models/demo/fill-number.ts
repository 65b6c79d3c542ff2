import type { JsonSchema } from '../model.js'

/** The number nearest to `value` that a schema allows. */
export function inRange(value: number, schema: JsonSchema): number {
  const step = numberOf(schema.multipleOf) ?? (schema.type === 'integer' ? 1 : undefined)
  const over = numberOf(schema.exclusiveMinimum)
  const under = numberOf(schema.exclusiveMaximum)
  const low = Math.max(
    numberOf(schema.minimum) ?? -Infinity,
    over === undefined ? -Infinity : over + (step ?? 1),
  )
  const high = Math.min(
    numberOf(schema.maximum) ?? Infinity,
    under === undefined ? Infinity : under - (step ?? 1),
  )
  const near = Math.min(Math.max(value, low), high)
  if (step === undefined) return near
  const rounded = Math.round(near / step) * step
  if (rounded < low) return Math.ceil(low / step) * step
  return rounded > high ? Math.floor(high / step) * step : rounded
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
