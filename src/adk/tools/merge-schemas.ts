import { isRecord } from '../../core/is-record.js'

export type Schema = Record<string, unknown>

/**
 * One schema for what two ask together. Properties and what is required are joined; where both say something else, the
 * first one wins.
 */
export function mergeSchemas(first: Schema, second: Schema): Schema {
  if (Array.isArray(second.anyOf) && !('anyOf' in first))
    return withAlternatives(first, second.anyOf as Schema[])
  if (Array.isArray(first.anyOf)) {
    const { anyOf: _, ...rest } = second
    return withAlternatives(rest, first.anyOf as Schema[])
  }
  const properties = joined(first.properties, second.properties)
  const required = [...new Set([...names(first.required), ...names(second.required)])]
  const known = properties ? required.filter((name) => Object.hasOwn(properties, name)) : required
  const { required: _first, ...own } = first
  const { required: _second, ...other } = second
  return {
    ...other,
    ...own,
    ...(properties && { properties }),
    ...(known.length > 0 && { required: known }),
  }
}

/**
 * A schema that must hold together with one of several. Each alternative says everything itself: Gemini takes `anyOf`
 * only when nothing stands beside it.
 */
export function withAlternatives(base: Schema, alternatives: readonly Schema[]): Schema {
  const flat = alternatives.flatMap((each) => (Array.isArray(each.anyOf) ? (each.anyOf as Schema[]) : [each]))
  const [only, ...more] = flat
  if (!only) return base
  // The alternative comes first: it says more about itself than what stands around it.
  if (more.length === 0) return mergeSchemas(only, base)
  if ('anyOf' in base) return base
  return { anyOf: flat.map((each) => mergeSchemas(each, each.type === 'null' ? {} : base)) }
}

function joined(first: unknown, second: unknown): Schema | undefined {
  if (!isRecord(first)) return isRecord(second) ? second : undefined
  if (!isRecord(second)) return first
  // Entries, for the sake of a property called `__proto__`.
  return Object.fromEntries([...Object.entries(second), ...Object.entries(first)])
}

function names(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}
