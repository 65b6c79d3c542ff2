import { isRecord } from '../../core/is-record.js'
import type { JsonSchema } from '../model.js'

// Deeper than any schema that a person wrote. Ends references that lead to themselves.
const deepest = 20

/** A schema with its local references followed, `allOf` merged, and the first alternative chosen that is not null. */
export function resolveSchema(schema: unknown, root: JsonSchema, depth = 0): JsonSchema {
  if (!isRecord(schema) || depth > deepest) return {}
  const { $ref, allOf, anyOf, oneOf, ...own } = schema
  const resolve = (part: unknown) => resolveSchema(part, root, depth + 1)
  const choices = [listOf(anyOf), listOf(oneOf)].map((choice) =>
    choice.find((entry) => resolve(entry).type !== 'null'),
  )
  const parts = [follow($ref, root), ...listOf(allOf), ...choices]
  return parts.map(resolve).reduce(merge, own)
}

function follow(reference: unknown, root: JsonSchema): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined
  const steps = reference.split('/').slice(1)
  return steps.reduce<unknown>((at, step) => (isRecord(at) ? at[step] : undefined), root)
}

function merge(a: JsonSchema, b: JsonSchema): JsonSchema {
  const properties = {
    ...(isRecord(a.properties) && a.properties),
    ...(isRecord(b.properties) && b.properties),
  }
  const required = [...listOf(a.required), ...listOf(b.required)]
  return {
    ...a,
    ...b,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  }
}

/** The entries of a keyword that holds a list; none when it does not. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
