import { constants, type Dirent } from 'node:fs'
import { lstat, mkdir, open, readdir, realpath, stat, type FileHandle } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { MillraceError } from '../../../core/errors.js'
import { toolError } from '../tool-error.js'
import type { FileEntry, Files } from './files.js'

/**
 * A folder on disk. Nothing outside of it can be read or written, not even through links in it. The folder must exist
 * when a run starts.
 *
 * @example
 * const files = fileWorkspace({ backend: diskFiles('./workspace') })
 */
export function diskFiles(root: string): Files & Required<Pick<Files, 'ready' | 'write'>> {
  const folder = resolve(root)
  return {
    ready: () => assertFolder(folder),
    list: (path) => withToolErrors(path, () => listFolder(folder, path)),
    read: (path, { signal }, { maxBytes }) => readDiskFile(folder, path, { maxBytes, signal }),
    write: (path, text) => withToolErrors(path, () => writeFile(folder, path, text)),
  }
}

async function assertFolder(folder: string): Promise<void> {
  const stats = await stat(folder).catch(() => undefined)
  if (stats?.isDirectory() !== true)
    throw new MillraceError('INVALID_AGENT', `There is no folder ${folder} to work in. Make it first.`)
}

async function listFolder(root: string, path: string): Promise<FileEntry[]> {
  const { real, missing } = await resolveInside(root, path)
  if (missing.length > 0) throw toolError(`There is no folder '${path}'.`)
  const entries = await readdir(real, { withFileTypes: true })
  // A link may have replaced the folder before it was read.
  if ((await resolveInside(root, path)).real !== real)
    throw toolError(`'${path}' was moved meanwhile. Try again.`)
  return entries.flatMap(toFileEntry)
}

function toFileEntry(entry: Dirent): FileEntry[] {
  const { name } = entry
  // No valid path contains such a name, and a line break would turn one list entry into two.
  if (/[\\\p{Cc}]/u.test(name)) return []
  if (entry.isFile()) return [{ name, kind: 'file' }]
  if (entry.isDirectory()) return [{ name, kind: 'folder' }]
  return entry.isSymbolicLink() ? [{ name, kind: 'link' }] : []
}

export interface ReadDiskFileOptions {
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** Reads a file of a folder, and none outside of it. Throws TOOL_ERROR if it cannot. */
export function readDiskFile(root: string, path: string, options: ReadDiskFileOptions): Promise<Uint8Array> {
  return withToolErrors(path, () => readFile(root, path, options))
}

async function readFile(
  root: string,
  path: string,
  { maxBytes, signal }: ReadDiskFileOptions,
): Promise<Uint8Array> {
  signal.throwIfAborted()
  const { real, missing } = await resolveInside(root, path)
  if (missing.length > 0) throw toolError(`There is no file '${path}'.`)
  const handle = await openInside(root, real, { path, flags: constants.O_RDONLY })
  try {
    const { size } = await handle.stat()
    if (size > maxBytes)
      throw toolError(`'${path}' has ${size} bytes, which is more than ${maxBytes}: it is too large.`)
    return await readBytes(handle, size)
  } finally {
    await handle.close()
  }
}

/** Reads at most `size` bytes: the file may be growing. */
async function readBytes(handle: FileHandle, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size)
  let length = 0
  while (length < size) {
    const { bytesRead } = await handle.read(bytes, length, size - length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return bytes.subarray(0, length)
}

async function writeFile(root: string, path: string, text: string): Promise<void> {
  const { real, missing } = await resolveInside(root, path)
  if (missing.length > 1) await mkdir(join(real, ...missing.slice(0, -1)), { recursive: true })
  // Truncated only after `openInside` has checked which file it is.
  const flags = constants.O_WRONLY | constants.O_CREAT
  const handle = await openInside(root, join(real, ...missing), { path, flags })
  try {
    await handle.truncate(0)
    await handle.writeFile(text)
  } finally {
    await handle.close()
  }
}

const reasons = new Map<unknown, string>([
  ['ENOENT', 'is not there'],
  ['ENOTDIR', 'is not a folder, or is behind a name that is not one'],
  ['EEXIST', 'is behind a name that is not a folder'],
  ['EISDIR', 'is a folder, not a file'],
  ['ELOOP', 'is a link, or is behind links that lead in a circle'],
  ['ENAMETOOLONG', 'is too long a name'],
  ['EACCES', 'may not be touched'],
  ['EPERM', 'may not be touched'],
  ['EROFS', 'cannot be changed'],
  ['ENOSPC', 'does not fit on the disk'],
])

/** The system's messages contain absolute paths, so only logs get them. */
async function withToolErrors<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (MillraceError.isInstance(error) || !(error instanceof Error && 'code' in error)) throw error
    const { code } = error
    // The reason of an abort.
    if (typeof code !== 'string') throw error
    throw toolError(`'${path || '.'}' ${reasons.get(code) ?? `cannot be used (${code})`}.`, error)
  }
}

export interface ResolvedPath {
  /** The deepest part of the path that exists, without links. */
  readonly real: string
  /** The names after it, which do not exist. */
  readonly missing: readonly string[]
}

/**
 * Resolves a path below a root, links included, and throws TOOL_ERROR if it leads out of the root. Refuses dangling
 * links too: their target is not known yet. `path` must come from `toFilePath`.
 */
export async function resolveInside(root: string, path: string): Promise<ResolvedPath> {
  const realRoot = await realpath(root)
  const names = path === '' ? [] : path.split('/')
  for (let count = names.length; count > 0; count--) {
    const real = await resolveExisting(join(realRoot, ...names.slice(0, count)), path)
    if (real === undefined) continue
    if (!isBelow(realRoot, real)) throw toolError(`'${path}' leads out of the folder, which is not allowed.`)
    return { real, missing: names.slice(count) }
  }
  return { real: realRoot, missing: names }
}

// Windows has neither.
const knownFlags: Readonly<Record<string, number | undefined>> = { ...constants }
const safeFlags = (knownFlags.O_NOFOLLOW ?? 0) | (knownFlags.O_NONBLOCK ?? 0)

export interface OpenInsideOptions {
  readonly path: string
  /** Flags of `node:fs`. */
  readonly flags: number
}

/**
 * Opens the regular file at `real`, to which `resolveInside` has resolved `path`. A link may have replaced it since: one
 * at the end is not followed, and one on the way is detected, before anything is read or written.
 */
export async function openInside(
  root: string,
  real: string,
  { path, flags }: OpenInsideOptions,
): Promise<FileHandle> {
  // O_NONBLOCK: a pipe would otherwise not open before its other end is opened.
  const handle = await open(real, flags | safeFlags, 0o666)
  try {
    const stats = await handle.stat({ bigint: true })
    const again = await resolveInside(root, path)
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

async function resolveExisting(candidate: string, path: string): Promise<string | undefined> {
  try {
    return await realpath(candidate)
  } catch (error) {
    if (!isNotFound(error)) throw error
    if (!(await exists(candidate))) return undefined
    throw toolError(`'${path}' is, or is behind, a link that leads nowhere.`, error)
  }
}

/** True for a dangling link too. */
async function exists(candidate: string): Promise<boolean> {
  try {
    await lstat(candidate)
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

function isBelow(root: string, real: string): boolean {
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)
}
