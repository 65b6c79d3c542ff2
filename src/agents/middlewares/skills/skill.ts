import { MillraceError } from '../../../core/errors.js'
import type { Files } from '../files/files.js'
import { parseFrontMatter, type FrontMatter } from './front-matter.js'

/** Instructions for one kind of work, which a model reads when it has such work to do. */
export interface Skill {
  /** What the model calls it by. */
  readonly name: string
  /** What it is for and when to use it: all the model knows of it beforehand. */
  readonly description: string
  /** What the model reads. */
  readonly body: string
  /** What else belongs to it. */
  readonly files?: Files
}

const longestName = 64
const longestDescription = 1_024

/** Reads a SKILL.md. Throws INVALID_AGENT, with `file` and what is wrong, when it is none. */
export function parseSkill(source: string, file: string): Skill {
  const { fields, body } = frontMatterOf(source, file)
  const textOf = (key: string): string => {
    const field = fields.get(key)
    if (field?.text === undefined) throw broken(file, field ? `'${key}' must be text` : `'${key}' is missing`)
    return field.text
  }
  const skill = { name: textOf('name'), description: textOf('description'), body }
  checkSkill(skill, file)
  return skill
}

/** Throws INVALID_AGENT, with the place, when a skill is of no use. */
export function checkSkill({ name, description, body }: Skill, place: string): void {
  if (!/^\S(?:.*\S)?$/.test(name) || name.length > longestName)
    throw broken(place, `'name' must be one line of 1 to ${longestName} characters`)
  if (description.trim() === '' || description.length > longestDescription)
    throw broken(place, `'description' must have 1 to ${longestDescription} characters`)
  if (body.trim() === '') throw broken(place, 'there is nothing in it to read')
}

function frontMatterOf(source: string, file: string): FrontMatter {
  try {
    return parseFrontMatter(source)
  } catch (error) {
    throw broken(file, error instanceof Error ? error.message : String(error), error)
  }
}

/** What a person reads who has to put it right. */
export function broken(place: string, why: string, cause?: unknown): MillraceError {
  const options = { details: { place }, ...(cause === undefined ? {} : { cause }) }
  return new MillraceError(
    'INVALID_AGENT',
    `The skill in ${place} is broken: ${why.replace(/\.$/, '')}.`,
    options,
  )
}
