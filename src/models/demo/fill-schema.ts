import { isRecord } from '../../core/json.js'
import type { JsonSchema } from '../contract.js'
import type { FactKind, Facts } from './facts.js'
import { wordsOf } from './words.js'

export interface FillSource {
  /** The facts of the user's message. */
  readonly facts: Facts
  /** Known values by name, for example from tool results. */
  readonly known?: Readonly<Record<string, unknown>>
}

// Schemas may contain themselves. Optional values are invented to the first depth, required ones to the second.
const maxOptionalDepth = 3
const maxRequiredDepth = 10
// What is asked for beyond these is not invented.
const maxSchemas = 1_000
const maxInventedItems = 100
const maxInventedLength = 10_000

/**
 * A value that matches a schema: facts of the user's message where they fit, invented values where the schema requires
 * more. Follows local references; ignores `pattern`, `uniqueItems` and rarer keywords.
 */
export function fillSchema(schema: JsonSchema, source: FillSource): unknown {
  const context: FillContext = { ...source, root: schema, left: { schemas: maxSchemas } }
  return fillField({ key: '', schema: resolveSchema(schema, context), depth: 0 }, context)
}

interface SchemaField {
  readonly key: string
  /** Resolved. */
  readonly schema: JsonSchema
  readonly depth: number
}

interface FillContext extends FillSource {
  readonly root: JsonSchema
  /** Clients write schemas too, and some would take exponential time. */
  readonly left: { schemas: number }
}

function fillField(field: SchemaField, context: FillContext): unknown {
  return findValue(field, context) ?? inventValue(field, context)
}

/** The value that the message has for a field, if any. */
function findValue(field: SchemaField, context: FillContext): unknown {
  const { key, schema } = field
  const { facts, known = {} } = context
  const type = schemaType(schema)
  if (Object.hasOwn(known, key) && hasType(known[key], type)) return known[key]
  if ('const' in schema) return undefined
  if ('enum' in schema) return toList(schema.enum).find((value) => facts.mentions(String(value)))
  switch (type) {
    case 'string':
      return findText(key, schema, facts)
    case 'number':
    case 'integer': {
      const number = facts.number(wordsOf(key))
      return number === undefined ? undefined : clampNumber(number, schema)
    }
    case 'boolean':
      return facts.mentions(key) ? !/\b(no|not|without|don't|off)\b/i.test(facts.text) : undefined
    case 'array':
      return findItems(field, context)
    default:
      return undefined
  }
}

function findItems(field: SchemaField, context: FillContext): unknown[] | undefined {
  const { minItems = 0, maxItems = 10 } = field.schema
  const found = new Set<unknown>()
  const items = itemsOf(field, context)
  while (found.size < Number(maxItems)) {
    const item = findValue(items, context)
    if (item === undefined || found.has(item)) break
    found.add(item)
  }
  return found.size === 0 || found.size < Number(minItems) ? undefined : [...found]
}

function itemsOf({ key, schema, depth }: SchemaField, context: FillContext): SchemaField {
  return { key, schema: resolveSchema(schema.items, context), depth: depth + 1 }
}

function inventValue(field: SchemaField, context: FillContext): unknown {
  const { key, schema, depth } = field
  const candidates = [schema.default, ...toList(schema.examples), schema.const, ...toList(schema.enum)]
  const candidate = candidates.find((value) => value !== undefined)
  if (candidate !== undefined) return candidate
  switch (schemaType(schema)) {
    case 'object':
      return fillObject(field, context)
    case 'array': {
      const length = Number(schema.minItems ?? (depth < maxOptionalDepth ? 1 : 0))
      return Array.from({ length: Math.min(length, maxInventedItems) }, () =>
        inventValue(itemsOf(field, context), context),
      )
    }
    case 'number':
    case 'integer':
      return clampNumber(1, schema)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return inventText(key, schema, context.facts)
  }
}

function fillObject({ schema, depth }: SchemaField, context: FillContext): Record<string, unknown> {
  if (depth > maxRequiredDepth) return {}
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const required = toList(schema.required).map(String)
  // If no member is required, the first is likely the one that matters.
  const first = depth < maxOptionalDepth ? Object.keys(properties).slice(0, 1) : []
  const wanted = new Set(required.length > 0 ? required : first)
  const entries = [...new Set([...wanted, ...Object.keys(properties)])].map((key) => {
    const field = { key, schema: resolveSchema(properties[key], context), depth: depth + 1 }
    return [key, wanted.has(key) ? fillField(field, context) : findValue(field, context)] as const
  })
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

function schemaType({ type, properties, items }: JsonSchema): unknown {
  const stated = toList(type).find((entry) => entry !== 'null') ?? type
  if (stated !== undefined) return stated
  if (properties !== undefined) return 'object'
  return items === undefined ? 'string' : 'array'
}

function hasType(value: unknown, type: unknown): boolean {
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

/** The number nearest to `value` that the schema allows. */
function clampNumber(value: number, schema: JsonSchema): number {
  const step = numberOrNone(schema.multipleOf) ?? (schema.type === 'integer' ? 1 : undefined)
  const above = numberOrNone(schema.exclusiveMinimum)
  const below = numberOrNone(schema.exclusiveMaximum)
  const low = Math.max(
    numberOrNone(schema.minimum) ?? -Infinity,
    above === undefined ? -Infinity : above + (step ?? 1),
  )
  const high = Math.min(
    numberOrNone(schema.maximum) ?? Infinity,
    below === undefined ? Infinity : below - (step ?? 1),
  )
  const near = Math.min(Math.max(value, low), high)
  if (step === undefined) return near
  const rounded = Math.round(near / step) * step
  if (rounded < low) return Math.ceil(low / step) * step
  return rounded > high ? Math.floor(high / step) * step : rounded
}

function numberOrNone(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** How to find the text for a parameter in the message. */
interface TextRule {
  /** Prepositions before the value. */
  readonly after?: readonly string[]
  readonly kinds?: readonly FactKind[]
  /** Formats the value. */
  readonly write?: (value: string) => string
  /** The value if the message has none. Default: the whole message. */
  readonly sample?: string
}

const rulesByFormat = new Map<unknown, TextRule>([
  ['email', { kinds: ['email'], sample: 'guest@example.com' }],
  ['uri', { kinds: ['url'], sample: 'https://example.com/' }],
  ['date', { kinds: ['date'], sample: '2026-01-01' }],
  ['time', { kinds: ['time'], write: (time) => `${time.padStart(5, '0')}:00Z`, sample: '12:00:00Z' }],
  ['date-time', { kinds: ['date'], write: (date) => `${date}T12:00:00Z`, sample: '2026-01-01T12:00:00Z' }],
  ['uuid', { sample: '00000000-0000-4000-8000-000000000000' }],
])

const rulesByName: readonly (readonly [RegExp, TextRule])[] = [
  [/mail/, { kinds: ['email'], sample: 'guest@example.com' }],
  [/url|link|website/, { kinds: ['url'], sample: 'https://example.com/' }],
  [/date|day|when|deadline/, { kinds: ['date'], sample: '2026-01-01' }],
  [/time|hour/, { kinds: ['time'], sample: '12:00' }],
  [/origin|departure|^from/, { after: ['from'], kinds: ['name'], sample: 'Oslo' }],
  [/destination|arrival|recipient|^to$/, { after: ['to'], kinds: ['email', 'name'], sample: 'Bergen' }],
  [
    /city|town|place|location|country|region/,
    { after: ['in', 'for', 'at'], kinds: ['name', 'quote'], sample: 'Oslo' },
  ],
  [/restaurant|hotel|venue/, { after: ['at'], kinds: ['name', 'quote'], sample: 'Maaemo' }],
  [/item|product|ingredient|groceries/, { kinds: ['quote', 'item', 'name'] }],
  [/colou?r|background|theme/, { after: ['to'], kinds: ['quote'], sample: 'blue' }],
  [
    /text|message|body|content|query|question|prompt|description|note|reason|title|task/,
    { kinds: ['quote'] },
  ],
  [/name|person|guest|customer|user/, { kinds: ['name', 'quote'], after: ['for'], sample: 'Ada' }],
]

function textRule(key: string, { format }: JsonSchema): TextRule {
  const [, rule] = rulesByName.find(([pattern]) => pattern.test(key.toLowerCase())) ?? []
  return rulesByFormat.get(format) ?? rule ?? { kinds: ['quote', 'name'] }
}

function findText(key: string, schema: JsonSchema, facts: Facts): string | undefined {
  const { after = [], kinds = [], write = (value) => value } = textRule(key, schema)
  for (const lookUp of [
    ...after.map((word) => () => facts.after(word)),
    ...kinds.map((kind) => () => facts.next(kind)),
  ]) {
    const value = lookUp()
    if (value !== undefined) return fitLength(write(value), schema)
  }
  return undefined
}

function inventText(key: string, schema: JsonSchema, { text }: Facts): string {
  return fitLength(textRule(key, schema).sample ?? (text === '' ? 'demo' : text), schema)
}

function fitLength(text: string, { minLength, maxLength }: JsonSchema): string {
  const cut = typeof maxLength === 'number' ? text.slice(0, maxLength) : text
  return typeof minLength === 'number' ? cut.padEnd(Math.min(minLength, maxInventedLength), '.') : cut
}

// Deeper than any handwritten schema. Ends circular references.
const maxDepth = 20

/** Follows local references, merges `allOf`, and chooses the first alternative that is not null. */
function resolveSchema(schema: unknown, context: FillContext, depth = 0): JsonSchema {
  if (!isRecord(schema) || depth > maxDepth || context.left.schemas-- <= 0) return {}
  const { $ref, allOf, anyOf, oneOf, ...own } = schema
  const resolve = (part: unknown) => resolveSchema(part, context, depth + 1)
  const choices = [toList(anyOf), toList(oneOf)].map((choice) =>
    choice.find((entry) => resolve(entry).type !== 'null'),
  )
  const parts = [followReference($ref, context.root), ...toList(allOf), ...choices]
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
function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
