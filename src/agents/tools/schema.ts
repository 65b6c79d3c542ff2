import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { MillraceError } from '../../core/errors.js'
import type { JsonSchema } from '../../models/index.js'
import { Validator, type OutputUnit } from '@cfworker/json-schema'

/** A schema of any library that speaks Standard Schema (zod, valibot, arktype, ...), or plain JSON Schema. */
export type Schema<Output = unknown> = StandardSchemaV1<unknown, Output> | JsonSchema

/** A value that fits, as the schema returns it (with defaults, transformed), or the issues. */
export type Checked<Output = unknown> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] }

/** Checks values against one schema. Rejects only when the schema itself is broken. */
export type Checker<Output = unknown> = (value: unknown) => Promise<Checked<Output>>

/** How to make a library's schemas convertible. Other libraries need nothing, or have no converter. */
const remedies: Readonly<Record<string, string>> = {
  valibot: "Wrap it with toStandardJsonSchema of '@valibot/to-json-schema'",
  zod: 'Use zod 4.2 or newer',
}

/** Whether a value is a schema of a library, and not plain JSON Schema. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return isObject && '~standard' in value
}

/**
 * The JSON Schema of a schema's input, before defaults and transforms. Plain JSON Schema comes back as it is. `what` begins
 * the message of the INVALID_AGENT error for a schema that cannot be converted.
 */
export function toJsonSchema(schema: Schema, what: string): JsonSchema {
  if (!isStandardSchema(schema)) return plainJsonSchema(schema, what)
  const { vendor } = schema['~standard']
  if (!isConvertible(schema)) {
    const remedy = remedies[vendor] ?? 'Use a library that speaks Standard JSON Schema'
    throw unconvertible(what, `schemas of ${vendor} do not convert themselves to it. ${remedy}`)
  }
  try {
    const { $schema: _, ...converted } = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
    return converted
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw unconvertible(what, `${vendor} says: ${reason}. Change the schema`, { cause: error })
  }
}

/** Prepares to check many values. Plain JSON Schema is parsed once. */
export function toChecker<Output>(schema: Schema<Output>, what = 'A schema'): Checker<Output> {
  if (isStandardSchema(schema)) return async (value) => toChecked(await schema['~standard'].validate(value))
  const check = toJsonCheck(plainJsonSchema(schema, what), what)
  return (value) =>
    new Promise((resolve) => {
      const issues = check(value)
      // JSON Schema has no type: trust the caller's.
      resolve(issues.length === 0 ? { ok: true, value: value as Output } : { ok: false, issues })
    })
}

/** Checks one value. */
export async function checkAgainst<Output>(schema: Schema<Output>, value: unknown): Promise<Checked<Output>> {
  return toChecker(schema)(value)
}

function toChecked<Output>(result: StandardSchemaV1.Result<Output>): Checked<Output> {
  if (result.issues === undefined) return { ok: true, value: result.value }
  const issues = result.issues.map(({ path = [], message }) =>
    toIssue(
      path.map((step) => (typeof step === 'object' ? step.key : step)),
      message,
    ),
  )
  return { ok: false, issues }
}

function isConvertible(schema: StandardSchemaV1): schema is StandardSchemaV1 & StandardJSONSchemaV1 {
  return 'jsonSchema' in schema['~standard']
}

function plainJsonSchema(schema: unknown, what: string): JsonSchema {
  if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return schema as JsonSchema
  throw new MillraceError(
    'INVALID_AGENT',
    `${what}: a schema must be a Standard Schema or a JSON Schema object.`,
  )
}

function unconvertible(what: string, why: string, options?: { readonly cause: unknown }): MillraceError {
  const message = `${what}: the schema has to be shown as JSON Schema, but ${why}, or give plain JSON Schema (for a tool, as \`parameters\`).`
  return new MillraceError('INVALID_AGENT', message, options)
}

/** Keywords whose errors only point to others below them. */
const wrappers = new Set([
  '$ref',
  '$recursiveRef',
  'additionalItems',
  'additionalProperties',
  'allOf',
  'dependentSchemas',
  'if',
  'items',
  'patternProperties',
  'prefixItems',
  'properties',
  'unevaluatedItems',
  'unevaluatedProperties',
])

/** Keywords whose errors replace all those below them: the errors of each alternative only confuse. */
const choices = new Map([
  ['anyOf', 'fits none of the allowed forms'],
  ['oneOf', 'must fit exactly one of the allowed forms'],
  ['contains', 'has no item of the required form'],
])

/**
 * Parses a JSON Schema (draft 2020-12) once, to check any number of values. It is interpreted, no code is generated: a
 * schema from elsewhere is only data. The check throws INVALID_AGENT for an unusable schema, with a dangling `$ref` for
 * example.
 */
export function toJsonCheck(schema: JsonSchema, what: string): (value: unknown) => SchemaIssue[] {
  const validator = orInvalid(what, () => {
    // A copy, since the validator writes into the schema.
    const copy = JSON.parse(JSON.stringify(schema)) as Record<string, unknown>
    return new Validator(copy, '2020-12', false)
  })
  return (value) => {
    if (value === undefined) return [toIssue([], 'is missing')]
    return toSchemaIssues(orInvalid(what, () => validator.validate(value)).errors)
  }
}

function orInvalid<T>(what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const [reason] = String(error).split('\n')
    throw new MillraceError('INVALID_AGENT', `${what}: the JSON Schema cannot be used: ${reason ?? ''}`, {
      cause: error,
    })
  }
}

function toSchemaIssues(errors: readonly OutputUnit[]): SchemaIssue[] {
  const chosen = errors.filter(({ keyword }) => choices.has(keyword))
  return errors
    .filter((error, index) => {
      // The schema `false` has no location of its own: it stands right after its keyword.
      const located = error.keyword === 'false' ? errors[index - 1] : error
      const isBelow = chosen.some((choice) =>
        located?.keywordLocation.startsWith(`${choice.keywordLocation}/`),
      )
      return !wrappers.has(error.keyword) && !isBelow
    })
    .map(toSchemaIssue)
}

function toSchemaIssue({ keyword, instanceLocation, error }: OutputUnit): SchemaIssue {
  const keys = pointerKeys(instanceLocation)
  if (keyword === 'false') return toIssue(keys, 'is not allowed')
  const quoted = /"(.*)"\.$/.exec(error)?.[1]
  if (keyword === 'required' && quoted !== undefined) return toIssue([...keys, quoted], 'is required')
  const expected = keyword === 'type' ? /Expected "(.*)"\.$/.exec(error)?.[1] : undefined
  if (expected !== undefined) return toIssue(keys, `expected ${expected.replaceAll('", "', ' or ')}`)
  return toIssue(keys, choices.get(keyword) ?? error)
}

/** The keys of a JSON pointer in a URI fragment, as the validator writes it. */
function pointerKeys(pointer: string): PropertyKey[] {
  const [, ...keys] = pointer.split('/')
  return keys.map((key) => {
    if (/^\d+$/.test(key)) return Number(key)
    return decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')
  })
}

/** A problem with a value, short enough for a model. */
export interface SchemaIssue {
  /** The path from the root `$`: `$.guests[0].name`. */
  readonly path: string
  readonly message: string
}

// Libraries quote the value, which may be long.
const longestMessage = 200
const mostIssues = 10

/** Makes an issue. `keys` is the path from the root; a number is an index. */
export function toIssue(keys: readonly PropertyKey[], message: string): SchemaIssue {
  const text = message.length > longestMessage ? `${message.slice(0, longestMessage)}...` : message
  return { path: `$${keys.map(toPathSegment).join('')}`, message: text }
}

/** Issues as a list, one a line. Of very many, only the first ten. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  const lines = issues.slice(0, mostIssues).map(({ path, message }) => `- ${path}: ${message}`)
  const left = issues.length - lines.length
  return [...lines, ...(left > 0 ? [`- and ${left} more`] : [])].join('\n')
}

function toPathSegment(key: PropertyKey): string {
  if (typeof key === 'number') return `[${key}]`
  const name = String(key)
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
}
