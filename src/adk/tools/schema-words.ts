import type { Schema } from './merge-schemas.js'

/** Words that are taken over, with what must be true of their values. */
const kept: Readonly<Record<string, (value: unknown) => boolean>> = {
  title: isString,
  description: isString,
  pattern: isString,
  default: () => true,
  example: () => true,
  enum: Array.isArray,
  minimum: isNumber,
  maximum: isNumber,
  minLength: isNumber,
  maxLength: isNumber,
  minItems: isNumber,
  maxItems: isNumber,
  minProperties: isNumber,
  maxProperties: isNumber,
  format: (value) => formats.has(value),
}
const formats = new Set<unknown>(['date-time', 'date', 'time', 'enum', 'float', 'double', 'int32', 'int64'])

/** The words of a schema that say something about its values alone. */
export function words(node: Schema): Schema {
  const cleaned: Schema = {}
  for (const [word, fits] of Object.entries(kept))
    if (Object.hasOwn(node, word) && fits(node[word])) cleaned[word] = node[word]
  const [example] = list(node.examples)
  if (example !== undefined) cleaned.example ??= example
  // A bound that is not excluded is the nearest that models know.
  if (isNumber(node.exclusiveMinimum)) cleaned.minimum ??= node.exclusiveMinimum
  if (isNumber(node.exclusiveMaximum)) cleaned.maximum ??= node.exclusiveMaximum
  return cleaned
}

/** Gemini knows enums of texts and numbers; of another constant only its type can be said. */
export function constant({ const: value, type }: Schema): Schema {
  if (value === undefined) return {}
  if (isString(value)) return { type: 'string', enum: [value] }
  if (isNumber(value)) return { type: type === 'integer' ? type : 'number', enum: [value] }
  if (typeof value === 'boolean') return { type: 'boolean' }
  return { type: value === null ? 'null' : Array.isArray(value) ? 'array' : 'object' }
}

/** How many values a schema has when it is written out: alternatives share parts. Counts no further than the limit. */
export function sizeOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 1
  let size = 1
  for (const member of Object.values(value)) {
    if (size >= limit) break
    size += sizeOf(member, limit - size)
  }
  return size
}

/** Each value once. Large ones count as different: writing them out to compare them could take for ever. */
export function distinct<T>(values: readonly T[]): T[] {
  const seen = new Map<unknown, T>()
  for (const value of values) seen.set(sizeOf(value, 1_000) < 1_000 ? JSON.stringify(value) : value, value)
  return [...seen.values()]
}

/** The entries of what should be a list. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function isString(value: unknown): value is string {
  return typeof value === 'string'
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
