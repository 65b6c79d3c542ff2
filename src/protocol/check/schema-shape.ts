import { toMembersCheck } from './clean-check.js'

/** A protocol schema reduced to what the walk over a request needs. */
export type Shape =
  | {
      readonly kind: 'object'
      readonly fields: ReadonlyMap<string, Member>
      readonly list: readonly Member[]
      /** Whether there is nothing to say about a value and nothing to change. */
      readonly isClean: (value: unknown) => boolean
    }
  | { readonly kind: 'array'; readonly element: Shape }
  /** A union told apart by one member, such as a message by its `role`. */
  | { readonly kind: 'tagged'; readonly tag: string; readonly arms: ReadonlyMap<unknown, Shape> }
  /** A union told apart by what the value is, such as `string | ContentPart[]`. */
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
 * The part of a zod 4 schema that is read. It is read by structure and not with `instanceof`: the schemas may have
 * been built by another copy of zod than the one installed beside us.
 */
export interface SchemaNode {
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
    const list = Object.entries(def.shape).map(toMember)
    const fields = new Map(list.map((member) => [member.key, member]))
    return { kind: 'object', fields, list, isClean: toMembersCheck(list) }
  }
  if (def.element) return { kind: 'array', element: toShape(def.element) }
  if (def.options && def.discriminator) return toTagged(def.options, def.discriminator)
  if (def.options) return { kind: 'either', arms: def.options.map(toShape) }
  return { kind: 'leaf', expected: expectation(schema), check: leafCheck(schema) }
}

/** Nearly every leaf is a plain string or one of a few words, and a long history has thousands: those need no parser. */
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
