import { isToolError, toolError } from '../tool-error.js'
import { joinPath } from './file-path.js'
import type { FileEntry, Files, FilesContext } from './files.js'

export interface WalkOptions {
  readonly files: Files
  readonly ctx: FilesContext
  /** Names of folders that are left out. */
  readonly ignore: readonly string[]
  /** Told of every folder that could not be read. */
  readonly onSkip: (path: string) => void
}

const mostFiles = 100_000

/**
 * The paths of all files below a folder, in the order of their names. Links are left out, so there are no circles.
 * Throws TOOL_ERROR when there is no such folder, or too much in it.
 */
export async function* walkFiles(folder: string, options: WalkOptions): AsyncGenerator<string, void> {
  let left = mostFiles
  const { files, ctx, ignore, onSkip } = options

  async function* below(path: string, entries: readonly FileEntry[]): AsyncGenerator<string, void> {
    for (const { name, kind } of sortEntries(entries)) {
      const inner = joinPath(path, name)
      if (--left < 0)
        throw toolError(`There are more than ${mostFiles} files here. Search in a folder further down.`)
      if (kind === 'file') yield inner
      if (kind !== 'folder' || ignore.includes(name)) continue
      ctx.signal.throwIfAborted()
      const found = await listOrSkip(inner)
      if (found) yield* below(inner, found)
    }
  }

  async function listOrSkip(path: string): Promise<readonly FileEntry[] | undefined> {
    try {
      return await files.list(path, ctx)
    } catch (error) {
      if (!isToolError(error)) throw error
      onSkip(path)
      return undefined
    }
  }

  ctx.signal.throwIfAborted()
  yield* below(folder, await files.list(folder, ctx))
}

/** By the codes of their characters: the same everywhere. */
export function sortEntries(entries: readonly FileEntry[]): FileEntry[] {
  return [...entries].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}
