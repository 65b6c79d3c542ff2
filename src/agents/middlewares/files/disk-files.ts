import { constants, type Dirent } from 'node:fs'
import { mkdir, readdir, stat, type FileHandle } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { MillraceError } from '../../../core/errors.js'
import { toolError } from '../tool-error.js'
import { locate, openConfined } from './confine.js'
import type { FileEntry, Files } from './files.js'

/**
 * A folder on disk. Nothing outside of it can be read or written, also not through links that are in it. It must exist
 * when a run starts.
 *
 * @example
 * const files = fileWorkspace({ backend: diskFiles('./workspace') })
 */
export function diskFiles(root: string): Files & Required<Pick<Files, 'ready' | 'write'>> {
  const folder = resolve(root)
  return {
    ready: () => assertFolder(folder),
    list: (path) => explained(path, () => listFolder(folder, path)),
    read: (path, { signal }, { maxBytes }) => readDiskFile(folder, path, { maxBytes, signal }),
    write: (path, text) => explained(path, () => writeFile(folder, path, text)),
  }
}

async function assertFolder(folder: string): Promise<void> {
  const stats = await stat(folder).catch(() => undefined)
  if (stats?.isDirectory() !== true)
    throw new MillraceError('INVALID_AGENT', `There is no folder ${folder} to work in. Make it first.`)
}

async function listFolder(root: string, path: string): Promise<FileEntry[]> {
  const { real, missing } = await locate(root, path)
  if (missing.length > 0) throw toolError(`There is no folder '${path}'.`)
  const entries = await readdir(real, { withFileTypes: true })
  // A link may have taken its place before it was read.
  if ((await locate(root, path)).real !== real) throw toolError(`'${path}' was moved meanwhile. Try again.`)
  return entries.flatMap(toEntry)
}

function toEntry(entry: Dirent): FileEntry[] {
  const { name } = entry
  // No path leads to such a name, and a line break in a list would make two of one.
  if (/[\\\p{Cc}]/u.test(name)) return []
  if (entry.isFile()) return [{ name, kind: 'file' }]
  if (entry.isDirectory()) return [{ name, kind: 'folder' }]
  return entry.isSymbolicLink() ? [{ name, kind: 'link' }] : []
}

export interface ReadOptions {
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** Reads a file of a folder, and none outside of it. Throws TOOL_ERROR when that cannot be done. */
export function readDiskFile(root: string, path: string, options: ReadOptions): Promise<Uint8Array> {
  return explained(path, () => readFile(root, path, options))
}

async function readFile(root: string, path: string, { maxBytes, signal }: ReadOptions): Promise<Uint8Array> {
  signal.throwIfAborted()
  const { real, missing } = await locate(root, path)
  if (missing.length > 0) throw toolError(`There is no file '${path}'.`)
  const handle = await openConfined(root, real, { path, flags: constants.O_RDONLY })
  try {
    const { size } = await handle.stat()
    if (size > maxBytes)
      throw toolError(`'${path}' has ${size} bytes, which is more than ${maxBytes}: it is too large.`)
    return await readBytes(handle, size)
  } finally {
    await handle.close()
  }
}

/** No more than the file had when it was measured: it may be growing. */
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
  const { real, missing } = await locate(root, path)
  if (missing.length > 1) await mkdir(join(real, ...missing.slice(0, -1)), { recursive: true })
  // Not emptied when it is opened: first it must be sure which file that is.
  const flags = constants.O_WRONLY | constants.O_CREAT
  const handle = await openConfined(root, join(real, ...missing), { path, flags })
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

/** The words of the system name places outside of the folder: they are for logs. */
async function explained<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (MillraceError.isInstance(error) || !(error instanceof Error && 'code' in error)) throw error
    const { code } = error
    // Aborted: the reason is somebody else's to explain.
    if (typeof code !== 'string') throw error
    throw toolError(`'${path || '.'}' ${reasons.get(code) ?? `cannot be used (${code})`}.`, error)
  }
}
