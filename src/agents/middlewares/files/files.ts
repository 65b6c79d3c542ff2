import type { ToolContext } from '../../contract.js'

/** The part of a tool call's context that a place for files may need. */
export type FilesContext = Pick<
  ToolContext,
  'threadId' | 'runId' | 'signal' | 'values' | 'state' | 'setState'
>

export interface FileEntry {
  /** Without the folder, and without slashes. */
  readonly name: string
  /** A link is named, but neither followed nor searched. It may be read when it leads to a file of this place. */
  readonly kind: 'file' | 'folder' | 'link'
}

/**
 * A place for files that a model works with. Paths are relative, with `/` between names; they never begin or end with
 * one and have no `.`, `..` or empty names: whoever calls has checked that. The top folder is the empty path.
 *
 * What it throws is told to the model: throw TOOL_ERROR in words that it may read.
 */
export interface Files {
  /** Called at the start of a run. Throws INVALID_AGENT when there is no such place. */
  ready?(): Promise<void>
  /** What is in a folder, in any order. Throws when there is no such folder. */
  list(folder: string, ctx: FilesContext): Promise<readonly FileEntry[]>
  /** A file as it is now. Throws when it is not there, no file, or larger than `maxBytes`. */
  read(path: string, ctx: FilesContext, limit: { readonly maxBytes: number }): Promise<Uint8Array>
  /** Makes or replaces a file, and the folders it is in. A place without it is read only. */
  write?(path: string, text: string, ctx: FilesContext): Promise<void>
}
