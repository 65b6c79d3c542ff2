import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonSchema } from '../models/index.js'

/** A schema of any library that speaks Standard Schema (zod, valibot, arktype, ...), or plain JSON Schema. */
export type Schema<Output = unknown> = StandardSchemaV1<unknown, Output> | JsonSchema
