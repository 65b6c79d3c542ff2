import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { MillraceError } from '../../../core/errors.js'
import { diskFiles, readDiskFile } from '../files/disk-files.js'
import { decodeText } from '../files/file-text.js'
import { broken, parseSkill, type Skill } from './skill.js'

export const skillFile = 'SKILL.md'

/** The largest SKILL.md, and the largest file beside it, that is read. */
export const maxSkillBytes = 1_000_000

/** A skill, and where it was found. */
export interface LoadedSkill extends Skill {
  readonly place: string
}

/**
 * The skills in folders. Each is a folder with a SKILL.md in it, or one with such folders; other things in it are passed
 * over. Throws INVALID_AGENT, naming the file, when one is broken or a folder is not there.
 */
export async function loadSkills(dirs: readonly string[], signal: AbortSignal): Promise<LoadedSkill[]> {
  const found = await Promise.all(dirs.map((dir) => skillFolders(dir)))
  return Promise.all(found.flat().map((folder) => loadSkill(folder, signal)))
}

async function skillFolders(dir: string): Promise<string[]> {
  if (await isThere(join(dir, skillFile))) return [dir]
  const names = await namesIn(dir)
  const folders = names.sort().map((name) => join(dir, name))
  const areSkills = await Promise.all(folders.map((folder) => isThere(join(folder, skillFile))))
  return folders.filter((_, index) => areSkills[index])
}

async function namesIn(dir: string): Promise<string[]> {
  try {
    return await readdir(dir)
  } catch (cause) {
    throw new MillraceError('INVALID_AGENT', `The folder of skills ${dir} cannot be read.`, { cause })
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw broken(path, 'it cannot be read', error)
  }
}

async function loadSkill(folder: string, signal: AbortSignal): Promise<LoadedSkill> {
  const place = join(folder, skillFile)
  const source = decodeText(await readSkill(folder, { place, signal }))
  if (source === undefined) throw broken(place, 'it is not text')
  return { ...parseSkill(source, place), files: diskFiles(folder), place }
}

async function readSkill(
  folder: string,
  { place, signal }: { readonly place: string; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  try {
    return await readDiskFile(folder, skillFile, { maxBytes: maxSkillBytes, signal })
  } catch (error) {
    signal.throwIfAborted()
    throw broken(place, error instanceof Error ? error.message : 'it cannot be read', error)
  }
}
