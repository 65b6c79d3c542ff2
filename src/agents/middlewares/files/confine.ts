import { constants } from 'node:fs'
import { lstat, open, realpath, type FileHandle } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { toolError } from '../tool-error.js'

/** Where a path leads. */
export interface Located {
  /** The deepest part of it that exists, without links. */
  readonly real: string
  /** The names behind that, which do not exist. */
  readonly missing: readonly string[]
}

/**
 * Follows a path from a root, links included, and throws TOOL_ERROR when it leads out of there. Links that lead nowhere
 * are refused too: what they would come to lead to is not known. `path` must be one of `toFilePath`.
 */
export async function locate(root: string, path: string): Promise<Located> {
  const realRoot = await realpath(root)
  const names = path === '' ? [] : path.split('/')
  for (let count = names.length; count > 0; count--) {
    const real = await realOf(join(realRoot, ...names.slice(0, count)), path)
    if (real === undefined) continue
    if (!isInside(realRoot, real)) throw toolError(`'${path}' leads out of the folder, which is not allowed.`)
    return { real, missing: names.slice(count) }
  }
  return { real: realRoot, missing: names }
}

// Windows has neither.
const known: Readonly<Record<string, number | undefined>> = { ...constants }
const carefully = (known.O_NOFOLLOW ?? 0) | (known.O_NONBLOCK ?? 0)

export interface OpenOptions {
  readonly path: string
  /** Of `node:fs`. */
  readonly flags: number
}

/**
 * Opens the regular file at `real`, where `locate` has found `path`. Somebody may have put a link in its place since:
 * one at the end is not followed, and one on the way is noticed, before anything is read or written.
 */
export async function openConfined(
  root: string,
  real: string,
  { path, flags }: OpenOptions,
): Promise<FileHandle> {
  // Without waiting: a pipe would not open before somebody else opens its other end.
  const handle = await open(real, flags | carefully, 0o666)
  try {
    const stats = await handle.stat({ bigint: true })
    const again = await locate(root, path)
    const found = await lstat(again.real, { bigint: true })
    if (found.ino !== stats.ino || found.dev !== stats.dev || again.missing.length > 0)
      throw toolError(`'${path}' was moved meanwhile. Try again.`)
    if (stats.isDirectory()) throw toolError(`'${path}' is a folder, not a file.`)
    if (!stats.isFile()) throw toolError(`'${path}' is not a regular file.`)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function realOf(candidate: string, path: string): Promise<string | undefined> {
  try {
    return await realpath(candidate)
  } catch (error) {
    if (!isMissing(error)) throw error
    if (!(await isThere(candidate))) return undefined
    throw toolError(`'${path}' is, or is behind, a link that leads nowhere.`, error)
  }
}

/** Whether there is something by this name, a link that leads nowhere included. */
async function isThere(candidate: string): Promise<boolean> {
  try {
    await lstat(candidate)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

function isInside(root: string, real: string): boolean {
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)
}
