import type { JsonSchema } from '../../../models/index.js'
import type { Files } from './files.js'
import type { InTurn } from './in-turn.js'

/** What the tools of one workspace share. */
export interface Workspace {
  readonly files: Files
  /** Stands before the name of every tool. */
  readonly prefix: string
  /** Names of folders that are not searched. */
  readonly ignore: readonly string[]
  readonly maxFileBytes: number
  readonly maxResults: number
  /** How long the answer of a tool may be. */
  readonly maxChars: number
  /** Changes of one file come one after the other. */
  readonly inTurn: InTurn
}

/** The schema of a tool's arguments. All but the optional ones must be given. */
export function toParameters(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', properties, required, additionalProperties: false }
}

export const filePath: JsonSchema = {
  type: 'string',
  description: 'The path of the file, relative to the top folder: notes/a.md',
}

export const folderPath: JsonSchema = {
  type: 'string',
  description: 'The path of the folder, relative to the top folder, which it is unless given.',
}

export interface PagingArgs {
  readonly offset?: number
  readonly limit?: number
}

/** The arguments that choose a part of many results. */
export function pagingParameters(maxResults: number): Readonly<Record<keyof PagingArgs, JsonSchema>> {
  return {
    offset: { type: 'integer', minimum: 0, description: 'How many results to pass over: 0 unless given.' },
    limit: {
      type: 'integer',
      minimum: 1,
      description: `How many results to give: ${maxResults} unless given, and at most.`,
    },
  }
}

export function toPaging({ offset = 0, limit }: PagingArgs, { maxResults, maxChars }: Workspace) {
  return { offset, limit: Math.min(limit ?? maxResults, maxResults), maxChars }
}
