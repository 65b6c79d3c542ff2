import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'

export type ToolSchema = Record<string, unknown>

/**
 * The parameters of a tool in JSON Schema that every model takes. Gemini refuses a whole request with an unknown keyword.
 * Always describes an object. References are replaced by their targets; keywords that only some models know are expressed
 * by simpler ones or left out, so the result allows more than the original. A schema that contains itself is cut off with
 * a plain object. Names of properties, defaults and enums stay as they are. Does not change its input, and ends for any
 * input; throws INVALID_INPUT for one that grows too large.
 */
export function cleanParameters(parameters: unknown): ToolSchema {
  const root = isRecord(parameters) ? parameters : {}
  const cleaned = withoutIdleRequired(
    asOneObject(cleanSchema(root, { root, above: [], refs: [], budget: { left: maxNodes } })),
  )
  if (cleaned.type !== undefined && cleaned.type !== 'object') return { type: 'object', properties: {} }
  const whole = { ...cleaned, type: 'object', properties: cleaned.properties ?? {} }
  if (sizeOf(whole, maxSize) >= maxSize) throw schemaTooLarge()
  return whole
}

function schemaTooLarge(): MillraceError {
  return new MillraceError('INVALID_INPUT', 'The parameters are too large for a model.')
}

interface SchemaWalk {
  readonly root: ToolSchema
  /** The schemas around this one, and the references that led here. None of them is entered again. */
  readonly above: readonly object[]
  readonly refs: readonly string[]
  /** Number of schemas left: references can make a small schema very large. */
  readonly budget: { left: number }
}

const maxNodes = 2_000
const maxSize = 10_000
const maxDepth = 64

function cleanSchema(node: unknown, walk: SchemaWalk): ToolSchema {
  if (!isRecord(node)) return {}
  walk.budget.left -= 1
  if (walk.budget.left < 0) throw schemaTooLarge()
  if (walk.above.length > maxDepth || walk.above.includes(node)) return { type: 'object' }
  const below = { ...walk, above: [...walk.above, node] }
  if (isString(node.$ref)) return cleanRef(node, below)
  const own = {
    ...(isString(node.type) && { type: node.type }),
    ...valueKeywords(node),
    ...constSchema(node),
    ...objectKeywords(node, below),
    ...arrayKeywords(node, below),
  }
  const base = asArray(node.allOf).reduce<ToolSchema>(
    (all, part) => mergeSchemas(all, cleanSchema(part, below)),
    own,
  )
  const choices = asArray(node.anyOf ?? node.oneOf).filter((choice) => choice !== false)
  const chosen = withAlternatives(
    base,
    choices.map((choice) => cleanSchema(choice, below)),
  )
  return withTypeAlternatives(chosen, node.type)
}

function cleanRef(node: ToolSchema, walk: SchemaWalk): ToolSchema {
  const { $ref, ...rest } = node
  const ref = String($ref)
  if (walk.refs.includes(ref)) return { type: 'object', ...valueKeywords(rest) }
  const target = cleanSchema(resolveRef(walk.root, ref), { ...walk, refs: [...walk.refs, ref] })
  return mergeSchemas(cleanSchema(rest, walk), target)
}

function objectKeywords({ properties, required, type }: ToolSchema, walk: SchemaWalk): ToolSchema {
  if (!isRecord(properties)) {
    // It may require properties that only its alternatives have.
    return type === 'object' || !Array.isArray(required) ? {} : { required: required.filter(isString) }
  }
  const entries = Object.entries(properties).filter(([, member]) => member !== false)
  const names = new Set(entries.map(([name]) => name))
  const needed = asArray(required).filter((name) => isString(name) && names.has(name))
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, member]) => [name, withoutIdleRequired(cleanSchema(member, walk))]),
    ),
    ...(needed.length > 0 && { required: needed }),
  }
}

/** A tuple becomes an array of anything that one of its positions takes. Gemini refuses an array without `items`. */
function arrayKeywords(node: ToolSchema, walk: SchemaWalk): ToolSchema {
  const places = [...asArray(node.prefixItems), ...asArray(node.items)]
  if (places.length > 0) {
    const cleaned = places.map((place) => withoutIdleRequired(cleanSchema(place, walk)))
    return { type: 'array', items: withAlternatives({}, distinctValues(cleaned)) }
  }
  if (isRecord(node.items))
    return { type: 'array', items: withoutIdleRequired(cleanSchema(node.items, walk)) }
  return node.type === 'array' ? { items: {} } : {}
}

/** Gemini takes no list of types: each becomes an alternative. */
function withTypeAlternatives(schema: ToolSchema, type: unknown): ToolSchema {
  const types = distinctValues(asArray(type).filter(isString))
  if (types.length === 0 || 'anyOf' in schema) return schema
  const { type: _, ...rest } = schema
  return withAlternatives(
    {},
    types.map((each) => (each === 'null' ? { type: each } : { ...keywordsForType(rest, each), type: each })),
  )
}

/** The keywords of a schema for values of one type. */
function keywordsForType(schema: ToolSchema, type: string): ToolSchema {
  const { properties, required, items: each, ...rest } = schema
  const values = Array.isArray(rest.enum) ? { enum: rest.enum.filter((value) => value !== null) } : {}
  return {
    ...rest,
    ...values,
    ...(type === 'object' && { ...(properties !== undefined && { properties }) }),
    ...(type === 'object' && { ...(required !== undefined && { required }) }),
    ...(type === 'array' && { items: each ?? {} }),
  }
}

/** Parameters are one object: with the properties of all alternatives, requiring what all of them require. */
function asOneObject(schema: ToolSchema): ToolSchema {
  const choices = asArray(schema.anyOf).filter(isRecord)
  if (choices.length === 0) return schema
  const objects = choices.filter(({ type }) => type === undefined || type === 'object')
  const names = new Set(
    objects.flatMap(({ properties }) => Object.keys(isRecord(properties) ? properties : {})),
  )
  const properties = [...names].map((name) => {
    const each = objects.flatMap(({ properties: of }) =>
      isRecord(of) && Object.hasOwn(of, name) ? [of[name]] : [],
    )
    return [name, withAlternatives({}, distinctValues(each.filter(isRecord)))] as const
  })
  const needed = [...names].filter((name) =>
    objects.every(({ required }) => asArray(required).includes(name)),
  )
  const { description } = objects.find((each) => 'description' in each) ?? {}
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties: Object.fromEntries(properties),
    ...(needed.length > 0 && { required: needed }),
  }
}

/** Removes `required` from a schema without properties. */
function withoutIdleRequired(schema: ToolSchema): ToolSchema {
  if (Array.isArray(schema.anyOf)) return { anyOf: schema.anyOf.filter(isRecord).map(withoutIdleRequired) }
  if (!('required' in schema) || 'properties' in schema) return schema
  const { required: _, ...rest } = schema
  return rest
}

/** The target of a reference inside a JSON Schema document. Undefined when it points nowhere or outside. */
function resolveRef(root: unknown, ref: string): unknown {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined
  let target = root
  for (const segment of ref.split('/').slice(1)) {
    const key = decodeSegment(segment).replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(target)) target = (target as unknown[])[Number(key)]
    else if (isRecord(target) && Object.hasOwn(target, key)) target = target[key]
    else return undefined
  }
  return target
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Keywords to keep, with a check of their values. */
const keptKeywords: Readonly<Record<string, (value: unknown) => boolean>> = {
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
  format: (value) => knownFormats.has(value),
}
const knownFormats = new Set<unknown>([
  'date-time',
  'date',
  'time',
  'enum',
  'float',
  'double',
  'int32',
  'int64',
])

/** The keywords about the values themselves, without nested schemas. */
function valueKeywords(node: ToolSchema): ToolSchema {
  const cleaned: ToolSchema = {}
  for (const [keyword, fits] of Object.entries(keptKeywords))
    if (Object.hasOwn(node, keyword) && fits(node[keyword])) cleaned[keyword] = node[keyword]
  const [example] = asArray(node.examples)
  if (example !== undefined) cleaned.example ??= example
  // Models know inclusive bounds only.
  if (isNumber(node.exclusiveMinimum)) cleaned.minimum ??= node.exclusiveMinimum
  if (isNumber(node.exclusiveMaximum)) cleaned.maximum ??= node.exclusiveMaximum
  return cleaned
}

/** Gemini knows enums of strings and numbers. Only the type of any other constant can be kept. */
function constSchema({ const: value, type }: ToolSchema): ToolSchema {
  if (value === undefined) return {}
  if (isString(value)) return { type: 'string', enum: [value] }
  if (isNumber(value)) return { type: type === 'integer' ? type : 'number', enum: [value] }
  if (typeof value === 'boolean') return { type: 'boolean' }
  return { type: value === null ? 'null' : Array.isArray(value) ? 'array' : 'object' }
}

/** The number of values of a schema when written out: alternatives share parts. Counts no further than the limit. */
function sizeOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 1
  let size = 1
  for (const member of Object.values(value)) {
    if (size >= limit) break
    size += sizeOf(member, limit - size)
  }
  return size
}

/** Each value once. Large ones count as different: comparing them could take too long. */
function distinctValues<T>(values: readonly T[]): T[] {
  const seen = new Map<unknown, T>()
  for (const value of values) seen.set(sizeOf(value, 1_000) < 1_000 ? JSON.stringify(value) : value, value)
  return [...seen.values()]
}

/** The value if it is an array, else an empty one. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

/** One schema for values that match both. Joins properties and `required`; the first wins where both differ. */
function mergeSchemas(first: ToolSchema, second: ToolSchema): ToolSchema {
  if (Array.isArray(second.anyOf) && !('anyOf' in first))
    return withAlternatives(first, second.anyOf as ToolSchema[])
  if (Array.isArray(first.anyOf)) {
    const { anyOf: _, ...rest } = second
    return withAlternatives(rest, first.anyOf as ToolSchema[])
  }
  const properties = joinProperties(first.properties, second.properties)
  const required = [...new Set([...stringsIn(first.required), ...stringsIn(second.required)])]
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

/** A schema for values that match the base and one alternative. Gemini takes `anyOf` only with nothing beside it. */
function withAlternatives(base: ToolSchema, alternatives: readonly ToolSchema[]): ToolSchema {
  const flat = alternatives.flatMap((each) =>
    Array.isArray(each.anyOf) ? (each.anyOf as ToolSchema[]) : [each],
  )
  const [only, ...more] = flat
  if (!only) return base
  // The alternative wins: it is more specific than the base.
  if (more.length === 0) return mergeSchemas(only, base)
  if ('anyOf' in base) return base
  return { anyOf: flat.map((each) => mergeSchemas(each, each.type === 'null' ? {} : base)) }
}

function joinProperties(first: unknown, second: unknown): ToolSchema | undefined {
  if (!isRecord(first)) return isRecord(second) ? second : undefined
  if (!isRecord(second)) return first
  // Entries: a spread would lose a property named `__proto__`.
  return Object.fromEntries([...Object.entries(second), ...Object.entries(first)])
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}
