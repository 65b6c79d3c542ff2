import { isRecord } from '../../core/is-record.js'
import type { JsonSchema } from '../model.js'
import type { Facts } from './facts.js'
import { inRange } from './fill-number.js'
import { findText, inventText } from './fill-text.js'
import { listOf, resolveSchema } from './resolve-schema.js'
import { wordsOf } from './words.js'

/** Where values come from. */
export interface FillSource {
  readonly facts: Facts
  /** Values by name that are known already, for example from the results of tools. */
  readonly known?: Readonly<Record<string, unknown>>
}

// Lists and first members are made up to this depth, required members to the other: schemas may contain themselves.
const generousDepth = 3
const deepest = 10

/**
 * A value of the shape of a schema: what the message tells, and plausible values for what it must have besides. Follows
 * local references. `pattern`, `uniqueItems` and rarer keywords are not looked at.
 */
export function fillSchema(schema: JsonSchema, source: FillSource): unknown {
  return fill({ key: '', schema: resolveSchema(schema, schema), depth: 0 }, { ...source, root: schema })
}

interface Field {
  readonly key: string
  /** Resolved. */
  readonly schema: JsonSchema
  readonly depth: number
}

interface Context extends FillSource {
  readonly root: JsonSchema
}

function fill(field: Field, context: Context): unknown {
  return find(field, context) ?? invent(field, context)
}

/** What the message tells for a field; undefined when it tells nothing. */
function find(field: Field, context: Context): unknown {
  const { key, schema } = field
  const { facts, known = {} } = context
  const type = typeOf(schema)
  if (Object.hasOwn(known, key) && isOfType(known[key], type)) return known[key]
  if ('const' in schema) return undefined
  if ('enum' in schema) return listOf(schema.enum).find((value) => facts.mentions(String(value)))
  switch (type) {
    case 'string':
      return findText(key, schema, facts)
    case 'number':
    case 'integer': {
      const number = facts.number(wordsOf(key))
      return number === undefined ? undefined : inRange(number, schema)
    }
    case 'boolean':
      return facts.mentions(key) ? !/\b(no|not|without|don't|off)\b/i.test(facts.text) : undefined
    case 'array':
      return findItems(field, context)
    default:
      return undefined
  }
}

function findItems(field: Field, context: Context): unknown[] | undefined {
  const { minItems = 0, maxItems = 10 } = field.schema
  const found = new Set<unknown>()
  const items = itemsOf(field, context)
  while (found.size < Number(maxItems)) {
    const item = find(items, context)
    if (item === undefined || found.has(item)) break
    found.add(item)
  }
  return found.size === 0 || found.size < Number(minItems) ? undefined : [...found]
}

function itemsOf({ key, schema, depth }: Field, { root }: Context): Field {
  return { key, schema: resolveSchema(schema.items, root), depth: depth + 1 }
}

/** A plausible value for a field. */
function invent(field: Field, context: Context): unknown {
  const { key, schema, depth } = field
  const candidates = [schema.default, ...listOf(schema.examples), schema.const, ...listOf(schema.enum)]
  const given = candidates.find((value) => value !== undefined)
  if (given !== undefined) return given
  switch (typeOf(schema)) {
    case 'object':
      return fillObject(field, context)
    case 'array': {
      const length = Number(schema.minItems ?? (depth < generousDepth ? 1 : 0))
      return Array.from({ length }, () => invent(itemsOf(field, context), context))
    }
    case 'number':
    case 'integer':
      return inRange(1, schema)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return inventText(key, schema, context.facts)
  }
}

function fillObject({ schema, depth }: Field, context: Context): Record<string, unknown> {
  if (depth > deepest) return {}
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const required = listOf(schema.required).map(String)
  // Where no member is required, the first is likely the one that matters.
  const first = depth < generousDepth ? Object.keys(properties).slice(0, 1) : []
  const wanted = new Set(required.length > 0 ? required : first)
  const entries = [...new Set([...wanted, ...Object.keys(properties)])].map((key) => {
    const field = { key, schema: resolveSchema(properties[key], context.root), depth: depth + 1 }
    return [key, wanted.has(key) ? fill(field, context) : find(field, context)] as const
  })
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

function typeOf({ type, properties, items }: JsonSchema): unknown {
  const stated = listOf(type).find((entry) => entry !== 'null') ?? type
  if (stated !== undefined) return stated
  if (properties !== undefined) return 'object'
  return items === undefined ? 'string' : 'array'
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isRecord(value)
    default:
      return typeof value === type
  }
}
