/** The part of JSON Schema that forms are made from. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly default?: unknown
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
}

export type FieldKind = 'text' | 'number' | 'boolean' | 'choice' | 'object' | 'json'

/** Reads what came over the wire. Anything that is no object is a schema that allows all. */
export function toSchema(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

/** The field that fits a schema. What no field fits is written as JSON. */
export function fieldKind(schema: JsonSchema): FieldKind {
  const { type, properties } = plain(schema)
  if (choicesOf(schema).length > 0) return 'choice'
  if (type === 'string') return 'text'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'boolean') return 'boolean'
  return properties && Object.keys(properties).length > 0 ? 'object' : 'json'
}

export function choicesOf(schema: JsonSchema): readonly unknown[] {
  const { enum: values, anyOf, oneOf } = schema
  if (values) return values
  const constants = (anyOf ?? oneOf ?? []).map((one) => one.const)
  return constants.every((value) => value !== undefined) ? constants : []
}

/** An optional value is often written as one of two: its type, or null. */
function plain(schema: JsonSchema): JsonSchema {
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [])
  const [only, ...others] = types.filter((type) => type !== 'null')
  if (only !== undefined && others.length === 0) return { ...schema, type: only }
  const [inner, ...more] = (schema.anyOf ?? schema.oneOf ?? []).filter(
    ({ type, ...rest }) => type !== 'null' && (type !== undefined || Object.keys(rest).length > 0),
  )
  return inner && more.length === 0 ? plain(inner) : schema
}

/** What a form begins with. */
export function initialValue(schema: JsonSchema): unknown {
  if (schema.default !== undefined) return schema.default
  if (fieldKind(schema) !== 'object') return fieldKind(schema) === 'boolean' ? false : undefined
  const entries = Object.entries(plain(schema).properties ?? {}).flatMap(([key, member]) => {
    const value = initialValue(member)
    return value === undefined ? [] : [[key, value]]
  })
  return Object.fromEntries(entries) as unknown
}

/** A schema of a value, for a form of arguments whose schema nobody knows. */
export function schemaOf(value: unknown): JsonSchema {
  if (typeof value === 'string') return { type: 'string' }
  if (typeof value === 'number') return { type: 'number' }
  if (typeof value === 'boolean') return { type: 'boolean' }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  const properties = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, schemaOf(member)]))
  return { type: 'object', properties }
}

/** The properties of an object's schema, in order. */
export function membersOf(schema: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  return Object.entries(plain(schema).properties ?? {})
}
