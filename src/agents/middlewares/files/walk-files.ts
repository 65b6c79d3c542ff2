import { hasToolErrorCode, toolError } from '../tool-error.js'
import type { FileEntry, Files, FilesContext } from './files.js'

export interface WalkOptions {
  readonly files: Files
  readonly ctx: FilesContext
  /** Names of folders to leave out. */
  readonly ignore: readonly string[]
  /** Called for every folder that cannot be read. */
  readonly onSkip: (path: string) => void
}

const maxEntries = 100_000

/**
 * The paths of all files below a folder, sorted by name. Leaves out links, so there are no cycles. Throws TOOL_ERROR if
 * there is no such folder, or too much in it.
 */
export async function* walkFiles(folder: string, options: WalkOptions): AsyncGenerator<string, void> {
  let remaining = maxEntries
  const { files, ctx, ignore, onSkip } = options

  async function* walk(path: string, entries: readonly FileEntry[]): AsyncGenerator<string, void> {
    for (const { name, kind } of sortEntries(entries)) {
      const inner = path === '' ? name : `${path}/${name}`
      if (--remaining < 0)
        throw toolError(`There are more than ${maxEntries} files here. Search in a folder further down.`)
      if (kind === 'file') yield inner
      if (kind !== 'folder' || ignore.includes(name)) continue
      ctx.signal.throwIfAborted()
      const innerEntries = await listOrSkip(inner)
      if (innerEntries) yield* walk(inner, innerEntries)
    }
  }

  async function listOrSkip(path: string): Promise<readonly FileEntry[] | undefined> {
    try {
      return await files.list(path, ctx)
    } catch (error) {
      if (!hasToolErrorCode(error)) throw error
      onSkip(path)
      return undefined
    }
  }

  ctx.signal.throwIfAborted()
  yield* walk(folder, await files.list(folder, ctx))
}

/** By code units, so that the order does not depend on the locale. */
export function sortEntries(entries: readonly FileEntry[]): FileEntry[] {
  return [...entries].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}
