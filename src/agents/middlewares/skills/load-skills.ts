import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { MillraceError } from '../../../core/errors.js'
import { diskFiles, readDiskFile } from '../files/disk-files.js'
import { decodeText } from '../files/file-text.js'
import type { Files } from '../files/files.js'
import { parseFrontMatter, type FrontMatter } from './front-matter.js'

/** Instructions for one kind of work, which a model reads when it has such work to do. */
export interface Skill {
  /** The model calls the skill by this name. */
  readonly name: string
  /** The purpose, and when to use it: all that the model knows before it reads the skill. */
  readonly description: string
  /** The model reads this. */
  readonly body: string
  /** Further files of the skill. */
  readonly files?: Files
}

export interface LoadedSkill extends Skill {
  /** The file or option it comes from, for errors. */
  readonly origin: string
}

export const skillFile = 'SKILL.md'

/** The limit for a SKILL.md, and for each file beside it. */
export const maxSkillBytes = 1_000_000

/**
 * Loads the skills in folders. Each is a folder with a SKILL.md in it, or one with such folders; its other contents are
 * ignored. Throws INVALID_AGENT that names the file if a skill is broken, or if a folder is missing.
 */
export async function loadSkills(dirs: readonly string[], signal: AbortSignal): Promise<LoadedSkill[]> {
  const found = await Promise.all(dirs.map((dir) => findSkillFolders(dir)))
  return Promise.all(found.flat().map((folder) => loadSkill(folder, signal)))
}

async function findSkillFolders(dir: string): Promise<string[]> {
  if (await skillExists(dir)) return [dir]
  const names = await readNames(dir)
  const folders = names.sort().map((name) => join(dir, name))
  const areSkills = await Promise.all(folders.map(skillExists))
  return folders.filter((_, index) => areSkills[index])
}

async function readNames(dir: string): Promise<string[]> {
  try {
    return await readdir(dir)
  } catch (cause) {
    throw new MillraceError('INVALID_AGENT', `The folder of skills ${dir} cannot be read.`, { cause })
  }
}

async function skillExists(folder: string): Promise<boolean> {
  const path = join(folder, skillFile)
  try {
    await stat(path)
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw brokenSkill(path, 'it cannot be read', error)
  }
}

async function loadSkill(folder: string, signal: AbortSignal): Promise<LoadedSkill> {
  const origin = join(folder, skillFile)
  const source = decodeText(await readSkill(folder, { origin, signal }))
  if (source === undefined) throw brokenSkill(origin, 'it is not text')
  return { ...parseSkill(source, origin), files: diskFiles(folder), origin }
}

async function readSkill(
  folder: string,
  { origin, signal }: { readonly origin: string; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  try {
    return await readDiskFile(folder, skillFile, { maxBytes: maxSkillBytes, signal })
  } catch (error) {
    signal.throwIfAborted()
    throw brokenSkill(origin, error instanceof Error ? error.message : 'it cannot be read', error)
  }
}

function parseSkill(source: string, origin: string): Skill {
  const { fields, body } = readFrontMatter(source, origin)
  const readField = (key: string): string => {
    const field = fields.get(key)
    if (field?.text === undefined)
      throw brokenSkill(origin, field ? `'${key}' must be text` : `'${key}' is missing`)
    return field.text
  }
  const skill = { name: readField('name'), description: readField('description'), body }
  checkSkill(skill, origin)
  return skill
}

function readFrontMatter(source: string, origin: string): FrontMatter {
  try {
    return parseFrontMatter(source)
  } catch (error) {
    throw brokenSkill(origin, error instanceof Error ? error.message : String(error), error)
  }
}

const maxNameLength = 64
const maxDescriptionLength = 1_024

/** Throws INVALID_AGENT that names the origin if a skill is unusable. */
export function checkSkill({ name, description, body }: Skill, origin: string): void {
  if (!/^\S(?:.*\S)?$/.test(name) || name.length > maxNameLength)
    throw brokenSkill(origin, `'name' must be one line of 1 to ${maxNameLength} characters`)
  if (description.trim() === '' || description.length > maxDescriptionLength)
    throw brokenSkill(origin, `'description' must have 1 to ${maxDescriptionLength} characters`)
  if (body.trim() === '') throw brokenSkill(origin, 'there is nothing in it to read')
}

function brokenSkill(origin: string, problem: string, cause?: unknown): MillraceError {
  const options = { details: { origin }, ...(cause === undefined ? {} : { cause }) }
  const message = `The skill in ${origin} is broken: ${problem.replace(/\.$/, '')}.`
  return new MillraceError('INVALID_AGENT', message, options)
}
