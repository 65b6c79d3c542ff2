import type { JsonSchema } from '../../../models/index.js'
import type { Files } from './files.js'

/** Shared by the tools of one workspace. */
export interface Workspace {
  readonly files: Files
  /** Precedes the name of every tool. */
  readonly prefix: string
  /** Names of folders that are not searched. */
  readonly ignore: readonly string[]
  readonly maxFileBytes: number
  readonly maxResults: number
  /** The limit for the result of a tool. */
  readonly maxChars: number
  /** Changes to one file are made one after the other. */
  readonly runInOrder: RunInOrder
}

/** Runs work of one key one after the other, in the order of the calls; work of different keys side by side. */
export type RunInOrder = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** A failure does not stop the work after it. */
export function createRunInOrder(): RunInOrder {
  const last = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve()
    const result = before.then(work, work)
    last.set(key, result)
    const forget = (): void => {
      if (last.get(key) === result) last.delete(key)
    }
    result.then(forget, forget)
    return result
  }
}

/** The schema of a tool's arguments. */
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

/** The arguments that choose lines of a file. */
export function lineParameters(maxLines: number) {
  return {
    offset: { type: 'integer', minimum: 1, description: 'The first line to read: 1 unless given.' },
    limit: {
      type: 'integer',
      minimum: 1,
      description: `How many lines to read: ${maxLines} unless given, and at most.`,
    },
  } as const
}

export interface PagingArgs {
  readonly offset?: number
  readonly limit?: number
}

/** The arguments that choose a page of results. */
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

export function toPageOptions({ offset = 0, limit }: PagingArgs, workspace: Workspace): PageOptions {
  const { maxResults, maxChars } = workspace
  return { offset, limit: Math.min(limit ?? maxResults, maxResults), maxChars }
}

export interface PageOptions {
  /** The number of results to skip. */
  readonly offset: number
  readonly limit: number
  readonly maxChars: number
}

export interface ResultPage {
  readonly lines: readonly string[]
  /** The offset of the next page; undefined for the last. */
  readonly next: number | undefined
}

/** Reads no more of the source than the page needs. */
export async function takePage(
  source: AsyncIterable<string> | Iterable<string>,
  { offset, limit, maxChars }: PageOptions,
): Promise<ResultPage> {
  const lines: string[] = []
  let position = 0
  let chars = 0
  for await (const line of source) {
    if (position++ < offset) continue
    chars += line.length + 1
    if (lines.length === limit || (chars > maxChars && lines.length > 0))
      return { lines, next: offset + lines.length }
    lines.push(line)
  }
  return { lines, next: undefined }
}

/** A page as the model reads it; `emptyText` if there are no results. */
export function formatPage({ lines, next }: ResultPage, emptyText: string): string {
  if (lines.length === 0) return emptyText
  if (next === undefined) return lines.join('\n')
  return [...lines, `[There are more. Go on with offset ${next}.]`].join('\n')
}
