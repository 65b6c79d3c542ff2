import type { ToolContext } from '../../contract.js'
import { toolError } from '../tool-error.js'

/**
 * A backend for the files that a model works with. Paths are relative, with `/` between names, without `.`, `..` and
 * empty names: the caller has checked them with `toFilePath`. The top folder is the empty path.
 *
 * The model reads the messages of errors: throw TOOL_ERROR in words that it may read.
 */
export interface Files {
  /** Called at the start of a run. Throws INVALID_AGENT if the backend cannot be used. */
  ready?(): Promise<void>
  /** The entries of a folder, in any order. Throws if there is no such folder. */
  list(folder: string, ctx: FilesContext): Promise<readonly FileEntry[]>
  /** The current content of a file. Throws if it is missing, not a file, or larger than `maxBytes`. */
  read(path: string, ctx: FilesContext, limit: { readonly maxBytes: number }): Promise<Uint8Array>
  /** Creates or replaces a file, and creates its folders. A backend without it is read-only. */
  write?(path: string, text: string, ctx: FilesContext): Promise<void>
}

/** The part of a tool call's context that a backend may need. */
export type FilesContext = Pick<
  ToolContext,
  'app' | 'user' | 'claims' | 'threadId' | 'runId' | 'signal' | 'values' | 'state' | 'setState'
>

export interface FileEntry {
  /** Without the folder, and without slashes. */
  readonly name: string
  /** A link is listed, but neither followed nor searched. It can be read if it leads to a file of this backend. */
  readonly kind: 'file' | 'folder' | 'link'
}

const maxPathLength = 1_000

/**
 * Normalizes a path that a model wrote: removes `.`, empty names and trailing slashes. Throws TOOL_ERROR for a path that
 * is absolute, leads upwards, or contains a backslash or a control character.
 */
export function toFilePath(path: string): string {
  const quoted = JSON.stringify(path.slice(0, 200))
  if (path.length > maxPathLength) throw toolError(`The path ${quoted}... is too long.`)
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path))
    throw toolError(
      `The path ${quoted} is absolute. Paths are relative to the top folder, as in "notes/a.md".`,
    )
  if (path.includes('\\')) throw toolError(`The path ${quoted} has a backslash. Write / between names.`)
  if (/\p{Cc}/u.test(path)) throw toolError(`The path ${quoted} has a control character in it.`)
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (names.includes('..')) throw toolError(`The path ${quoted} has '..' in it, which is not allowed.`)
  return names.join('/')
}

/** Like `toFilePath`, but refuses the top folder. */
export function toNamedPath(path: string): string {
  const named = toFilePath(path)
  if (named === '') throw toolError('The path is empty. Give the path of a file.')
  return named
}
