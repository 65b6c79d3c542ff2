import { isRecord } from '../is-record.js'
import type { JsonSchema } from '../model.js'

/** A schema with its references followed, `allOf` merged and the first usable alternative chosen. */
export function resolveSchema(schema: unknown, root: JsonSchema): JsonSchema {
  if (!isRecord(schema)) return {}
  const { $ref, allOf, anyOf, oneOf, ...own } = schema
  const parts: JsonSchema[] = [own]
  if (typeof $ref === 'string') parts.push(resolveSchema(follow($ref, root), root))
  for (const part of listOf(allOf)) parts.push(resolveSchema(part, root))
  for (const alternatives of [listOf(anyOf), listOf(oneOf)]) {
    const chosen = alternatives.map((entry) => resolveSchema(entry, root)).find(({ type }) => type !== 'null')
    if (chosen !== undefined) parts.push(chosen)
  }
  return parts.reduce(merge)
}
