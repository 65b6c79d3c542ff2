import { isRecord } from '../../core/is-record.js'
import type { JsonSchema } from '../contract.js'

// Deeper than any handwritten schema. Ends circular references.
const maxDepth = 20

/** Follows local references, merges `allOf`, and chooses the first alternative that is not null. */
export function resolveSchema(schema: unknown, root: JsonSchema, depth = 0): JsonSchema {
  if (!isRecord(schema) || depth > maxDepth) return {}
  const { $ref, allOf, anyOf, oneOf, ...own } = schema
  const resolve = (part: unknown) => resolveSchema(part, root, depth + 1)
  const choices = [toList(anyOf), toList(oneOf)].map((choice) =>
    choice.find((entry) => resolve(entry).type !== 'null'),
  )
  const parts = [followReference($ref, root), ...toList(allOf), ...choices]
  return parts.map(resolve).reduce(combineSchemas, own)
}

function followReference(reference: unknown, root: JsonSchema): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined
  const steps = reference.split('/').slice(1)
  return steps.reduce<unknown>((at, step) => (isRecord(at) ? at[step] : undefined), root)
}

function combineSchemas(a: JsonSchema, b: JsonSchema): JsonSchema {
  const properties = {
    ...(isRecord(a.properties) && a.properties),
    ...(isRecord(b.properties) && b.properties),
  }
  const required = [...toList(a.required), ...toList(b.required)]
  return {
    ...a,
    ...b,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  }
}

/** The entries of a keyword; none unless it is a list. */
export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
