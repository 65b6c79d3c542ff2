import { isRecord } from '../../core/json.js'

/** A protocol schema reduced to what `checkValue` needs. */
export type Shape =
  | {
      readonly kind: 'object'
      readonly fields: ReadonlyMap<string, Member>
      readonly list: readonly Member[]
      /** Whether a value needs neither a warning nor a change. */
      readonly isClean: (value: unknown) => boolean
    }
  | { readonly kind: 'array'; readonly element: Shape }
  /** A union with a tag member, such as the `role` of a message. */
  | { readonly kind: 'tagged'; readonly tag: string; readonly arms: ReadonlyMap<unknown, Shape> }
  /** A union by the kind of value, such as `string | ContentPart[]`. */
  | { readonly kind: 'either'; readonly arms: readonly Shape[] }
  /** Anything else. `expected` names it for an error message: `string`, or the words allowed in quotes. */
  | { readonly kind: 'leaf'; readonly expected: string; readonly check: (value: unknown) => boolean }

/** A member of an object. An optional one may be absent, and null is read as absent. */
interface Member {
  readonly key: string
  readonly shape: Shape
  readonly optional: boolean
}

/**
 * The members of a zod 4 schema that `toShape` reads, by structure and not with `instanceof`: the schemas may have
 * been built by another copy of zod than the one installed beside us.
 */
interface SchemaNode {
  readonly def: {
    readonly type: string
    readonly innerType?: SchemaNode
    readonly in?: SchemaNode
    readonly shape?: Readonly<Record<string, SchemaNode>>
    readonly element?: SchemaNode
    readonly options?: readonly SchemaNode[]
    readonly discriminator?: string
    readonly values?: readonly unknown[]
    readonly entries?: Readonly<Record<string, unknown>>
    readonly checks?: readonly unknown[] | undefined
  }
  safeParse(value: unknown): { readonly success: boolean }
}

/** Reads a zod schema. A construct it does not know becomes a leaf, which zod itself then checks whole. */
export function toShape(schema: SchemaNode): Shape {
  const { def } = schema
  const inner = def.innerType ?? def.in
  if (inner) return toShape(inner)
  if (def.shape) {
    const list = [...Object.entries(def.shape).map(toMember), ...newMembers(def.shape)]
    const fields = new Map(list.map((member) => [member.key, member]))
    return { kind: 'object', fields, list, isClean: toObjectCheck(list) }
  }
  if (def.element) return { kind: 'array', element: toShape(def.element) }
  if (def.options && def.discriminator) return toTagged(def.options, def.discriminator)
  if (def.options) return { kind: 'either', arms: def.options.map(toShape) }
  return { kind: 'leaf', expected: expectation(schema), check: leafCheck(schema) }
}

/** Most leaves are plain strings or one of a few words, and a long history has thousands: these need no parser. */
function leafCheck(schema: SchemaNode): (value: unknown) => boolean {
  const { type, values, checks = [] } = schema.def
  if (checks.length === 0 && type === 'string') return (value) => typeof value === 'string'
  if (checks.length === 0 && type === 'literal' && values) return (value) => values.includes(value)
  return (value) => schema.safeParse(value).success
}

function toMember([key, schema]: [string, SchemaNode]): Member {
  const { type } = schema.def
  return { key, shape: toShape(schema), optional: type === 'optional' || type === 'default' }
}

/** AG-UI 1.1 has a type beside every encrypted value. The schemas are those of 1.0. */
function newMembers(shape: Readonly<Record<string, SchemaNode>>): Member[] {
  const { encryptedValue: value } = shape
  if (!value || 'encryptedValueType' in shape) return []
  return [{ key: 'encryptedValueType', shape: toShape(value), optional: true }]
}

function toTagged(options: readonly SchemaNode[], tag: string): Shape {
  const arms = new Map<unknown, Shape>()
  for (const option of options) {
    for (const value of option.def.shape?.[tag]?.def.values ?? []) arms.set(value, toShape(option))
  }
  return { kind: 'tagged', tag, arms }
}

function expectation({ def }: SchemaNode): string {
  const allowed = def.values ?? (def.entries && Object.values(def.entries))
  if (allowed) return allowed.map((value) => JSON.stringify(value)).join(' or ')
  // The custom schemas of the protocol are its open records: metadata, activity content, response schemas.
  return def.type === 'custom' ? 'object' : def.type
}

type Check = (value: unknown) => boolean

/**
 * Makes the check whether a value is exactly what a schema describes, member for member. Made once for each schema, since
 * every request comes with a long history.
 */
function toCleanCheck(shape: Shape): Check {
  switch (shape.kind) {
    case 'object':
      return shape.isClean
    case 'array': {
      const isClean = toCleanCheck(shape.element)
      return (value) => {
        if (!Array.isArray(value)) return false
        for (const entry of value) if (!isClean(entry)) return false
        return true
      }
    }
    case 'tagged': {
      const { tag } = shape
      const arms = new Map([...shape.arms].map(([name, arm]) => [name, toCleanCheck(arm)]))
      return (value) => isRecord(value) && arms.get(value[tag])?.(value) === true
    }
    case 'either': {
      const arms = shape.arms.map((arm) => ({ fits: toKindCheck(arm), isClean: toCleanCheck(arm) }))
      return (value) => {
        for (const arm of arms) if (arm.fits(value)) return arm.isClean(value)
        return false
      }
    }
    case 'leaf':
      return shape.check
  }
}

/** The same check for an object: no member is unknown, null or undefined, and no required one is absent. */
function toObjectCheck(members: readonly Member[]): Check {
  const checks = new Map(
    members.map(({ key, shape, optional }) => [
      key,
      { isClean: toCleanCheck(shape), counts: optional ? 0 : 1 },
    ]),
  )
  const required = members.filter(({ optional }) => !optional).length
  return (value) => {
    if (!isRecord(value) || !hasPlainPrototype(value)) return false
    let found = 0
    // Not `Object.keys`, which would make a list for each message. Plain objects have no members but their own.
    for (const key in value) {
      const member = value[key]
      const check = checks.get(key)
      if (check === undefined || member === undefined || member === null || !check.isClean(member))
        return false
      found += check.counts
    }
    return found === required
  }
}

function hasPlainPrototype(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Makes the check whether a value is of the kind that a schema describes. Ignores its members. */
export function toKindCheck(shape: Shape): Check {
  switch (shape.kind) {
    case 'array':
      return Array.isArray
    case 'object':
    case 'tagged':
      return isRecord
    case 'either': {
      const arms = shape.arms.map(toKindCheck)
      return (value) => arms.some((fits) => fits(value))
    }
    case 'leaf':
      return shape.check
  }
}
