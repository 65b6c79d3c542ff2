import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { MillraceError } from '../../core/errors.js'
import type { JsonSchema } from '../../models/index.js'
import { compileSchema } from '../json-schema/compile-schema.js'
import { toIssue, type SchemaIssue } from '../json-schema/issues.js'

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

/**
 * Parses a JSON Schema (draft 2020-12) once, to check any number of values. Throws INVALID_AGENT for one that cannot be
 * used, with a dangling `$ref` for example.
 */
function toJsonCheck(schema: JsonSchema, what: string): (value: unknown) => SchemaIssue[] {
  try {
    const check = compileSchema(schema)
    return (value) => (value === undefined ? [toIssue([], 'is missing')] : check(value))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new MillraceError('INVALID_AGENT', `${what}: the JSON Schema cannot be used: ${reason}.`, {
      cause: error,
    })
  }
}
