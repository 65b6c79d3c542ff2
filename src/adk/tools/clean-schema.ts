import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/is-record.js'
import { mergeSchemas, withAlternatives, type Schema } from './merge-schemas.js'
import { resolveRef } from './resolve-ref.js'
import { constant, distinct, isString, list, sizeOf, words } from './schema-words.js'

/**
 * The parameters of a tool as every model takes them, Gemini in the first place: one that meets a word it does not know
 * refuses the whole request. Always describes an object. References are put in place, what only some models understand is
 * said in simpler words or left out: the result allows more than the original. What contains itself is cut off with a
 * plain object. Names of properties, defaults and enums are kept as they are. Changes nothing, and ends for any input; throws
 * INVALID_INPUT for one that grows beyond measure.
 */
export function cleanParameters(parameters: unknown): Schema {
  const root = isRecord(parameters) ? parameters : {}
  const cleaned = settled(asOne(clean(root, { root, above: [], refs: [], budget: { left: maxNodes } })))
  if (cleaned.type !== undefined && cleaned.type !== 'object') return { type: 'object', properties: {} }
  const whole = { ...cleaned, type: 'object', properties: cleaned.properties ?? {} }
  if (sizeOf(whole, maxSize) >= maxSize) throw tooLarge()
  return whole
}

function tooLarge(): MillraceError {
  return new MillraceError('INVALID_INPUT', 'The parameters are too large to be told to a model.')
}

interface Walk {
  readonly root: Schema
  /** The schemas around this one, and the references that led here: what is met again is not entered again. */
  readonly above: readonly object[]
  readonly refs: readonly string[]
  /** References can make a small schema very large. */
  readonly budget: { left: number }
}

const maxNodes = 2_000
const maxSize = 10_000
const maxDepth = 64

function clean(node: unknown, walk: Walk): Schema {
  if (!isRecord(node)) return {}
  walk.budget.left -= 1
  if (walk.budget.left < 0) throw tooLarge()
  if (walk.above.length > maxDepth || walk.above.includes(node)) return { type: 'object' }
  const below = { ...walk, above: [...walk.above, node] }
  if (isString(node.$ref)) return cleanRef(node, below)
  const own = {
    ...(isString(node.type) && { type: node.type }),
    ...words(node),
    ...constant(node),
    ...members(node, below),
    ...items(node, below),
  }
  const base = list(node.allOf).reduce<Schema>((all, part) => mergeSchemas(all, clean(part, below)), own)
  const choices = list(node.anyOf ?? node.oneOf).filter((choice) => choice !== false)
  const chosen = withAlternatives(
    base,
    choices.map((choice) => clean(choice, below)),
  )
  return withTypes(chosen, node.type)
}

function cleanRef(node: Schema, walk: Walk): Schema {
  const { $ref, ...rest } = node
  const ref = String($ref)
  if (walk.refs.includes(ref)) return { type: 'object', ...words(rest) }
  const target = clean(resolveRef(walk.root, ref), { ...walk, refs: [...walk.refs, ref] })
  return mergeSchemas(clean(rest, walk), target)
}

function members({ properties, required, type }: Schema, walk: Walk): Schema {
  if (!isRecord(properties)) {
    // Without properties of its own it may say what those of an alternative need.
    return type === 'object' || !Array.isArray(required) ? {} : { required: required.filter(isString) }
  }
  const entries = Object.entries(properties).filter(([, member]) => member !== false)
  const names = new Set(entries.map(([name]) => name))
  const needed = list(required).filter((name) => isString(name) && names.has(name))
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, member]) => [name, settled(clean(member, walk))])),
    ...(needed.length > 0 && { required: needed }),
  }
}

/** Tuples become lists of anything that one of their places takes. A list without `items` is refused by Gemini. */
function items(node: Schema, walk: Walk): Schema {
  const places = [...list(node.prefixItems), ...list(node.items)]
  if (places.length > 0) {
    const cleaned = places.map((place) => settled(clean(place, walk)))
    return { type: 'array', items: withAlternatives({}, distinct(cleaned)) }
  }
  if (isRecord(node.items)) return { type: 'array', items: settled(clean(node.items, walk)) }
  return node.type === 'array' ? { items: {} } : {}
}

/** A list of types: Gemini takes one, and alternatives. */
function withTypes(schema: Schema, type: unknown): Schema {
  const types = distinct(list(type).filter(isString))
  if (types.length === 0 || 'anyOf' in schema) return schema
  const { type: _, ...rest } = schema
  return withAlternatives(
    {},
    types.map((each) => (each === 'null' ? { type: each } : { ...specific(rest, each), type: each })),
  )
}

/** What of a schema is about values of one type. */
function specific(schema: Schema, type: string): Schema {
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

/** Parameters are one object: alternatives become an object with the properties of all, needing what all need. */
function asOne(schema: Schema): Schema {
  const choices = list(schema.anyOf).filter(isRecord)
  if (choices.length === 0) return schema
  const objects = choices.filter(({ type }) => type === undefined || type === 'object')
  const names = new Set(
    objects.flatMap(({ properties }) => Object.keys(isRecord(properties) ? properties : {})),
  )
  const properties = [...names].map((name) => {
    const each = objects.flatMap(({ properties: of }) =>
      isRecord(of) && Object.hasOwn(of, name) ? [of[name]] : [],
    )
    return [name, withAlternatives({}, distinct(each.filter(isRecord)))] as const
  })
  const needed = [...names].filter((name) => objects.every(({ required }) => list(required).includes(name)))
  const { description } = objects.find((each) => 'description' in each) ?? {}
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties: Object.fromEntries(properties),
    ...(needed.length > 0 && { required: needed }),
  }
}

/** What is required must be there. */
function settled(schema: Schema): Schema {
  if (Array.isArray(schema.anyOf)) return { anyOf: schema.anyOf.filter(isRecord).map(settled) }
  if (!('required' in schema) || 'properties' in schema) return schema
  const { required: _, ...rest } = schema
  return rest
}
