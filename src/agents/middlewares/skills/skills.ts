import { MillraceError } from '../../../core/errors.js'
import { checkGiven } from '../../check-agent.js'
import type { Middleware } from '../../chat/middleware.js'
import type { Tool, ToolContext } from '../../contract.js'
import { defineTool } from '../../tools/define-tool.js'
import { formatLines, toFileText } from '../files/file-text.js'
import { toNamedPath } from '../files/files.js'
import { walkFiles } from '../files/walk-files.js'
import { lineParameters, takePage } from '../files/workspace.js'
import { addInstructions } from '../instructions.js'
import { toolError } from '../tool-error.js'
import {
  checkSkill,
  loadSkills,
  maxSkillBytes,
  skillFile,
  type LoadedSkill,
  type Skill,
} from './load-skills.js'

export interface SkillsOptions {
  /** Folders on disk: each a skill, with a SKILL.md in it, or a folder of such folders. Read at the start of a run. */
  readonly dirs?: readonly string[]
  /** Skills from elsewhere. */
  readonly skills?: readonly Skill[]
}

/**
 * Gives an agent skills. The model knows their names and descriptions, and reads one with the tool `skill` when it has
 * such work to do. The tool `read_skill_file` reads other files in the folder of a skill, and none outside of it.
 *
 * A SKILL.md begins with front matter that has `name` and `description`. A broken one, or two skills of one name, end the
 * run at its start with INVALID_AGENT, which names the file.
 *
 * @example
 * const agent = defineAgent({ name: 'analyst', model, middlewares: [skills({ dirs: ['./skills'] })] })
 */
export function skills(options: SkillsOptions): Middleware {
  checkGiven('skills', options, '{ dirs }')
  const { dirs = [], skills: given = [] } = options
  if (dirs.length === 0 && given.length === 0)
    throw new MillraceError('INVALID_AGENT', "Give skills with 'dirs' or 'skills'.")
  const own = given.map((skill) => ({ ...skill, origin: `the option 'skills'` }))
  for (const skill of own) checkSkill(skill, `${skill.origin} ('${skill.name}')`)
  checkNames(own)
  return {
    async onStart(setup, ctx) {
      const all = [...own, ...(await loadSkills(dirs, ctx.signal))]
      checkNames(all)
      if (all.length === 0) return undefined
      const tools = [skillTool(all), ...(all.some(({ files }) => files) ? [readSkillFileTool(all)] : [])]
      return {
        instructions: addInstructions(setup.instructions, skillInstructions(all)),
        tools: [...setup.tools, ...tools],
      }
    },
  }
}

function checkNames(all: readonly LoadedSkill[]): void {
  const origins = new Map<string, string>()
  for (const { name, origin } of all) {
    const other = origins.get(name)
    if (other !== undefined)
      throw new MillraceError(
        'INVALID_AGENT',
        `Two skills are named '${name}': ${other} and ${origin}. Rename one.`,
      )
    origins.set(name, origin)
  }
}

const skillToolName = 'skill'
const readToolName = 'read_skill_file'
const maxFiles = 200
const maxLines = 2_000
const maxChars = 40_000

function skillInstructions(all: readonly Skill[]): string {
  const lines = all.map(({ name, description }) => `- ${name}: ${description.replaceAll(/\s+/g, ' ').trim()}`)
  return [
    `You have skills. Before work that one of them is for, read it with the tool ${skillToolName}.`,
    ...lines,
  ].join('\n')
}

/** Returns the body of a skill and the list of its files. */
function skillTool(all: readonly Skill[]): Tool {
  return defineTool<{ readonly name: string }>({
    name: skillToolName,
    description: 'Reads a skill: instructions for one kind of work. Read it before you begin such work.',
    parameters: {
      type: 'object',
      properties: { name: { type: 'string', description: 'The name of the skill.' } },
      required: ['name'],
      additionalProperties: false,
    },
    async execute({ name }, ctx) {
      const skill = findSkill(all, name)
      const files = await listSkillFiles(skill, ctx)
      return files === ''
        ? skill.body
        : `${skill.body}\n\n[Files of this skill, for ${readToolName}:]\n${files}`
    },
  })
}

interface ReadSkillFileArgs {
  readonly skill: string
  readonly path: string
  readonly offset?: number
  readonly limit?: number
}

function readSkillFileTool(all: readonly Skill[]): Tool {
  return defineTool<ReadSkillFileArgs>({
    name: readToolName,
    description: 'Reads a text file of a skill. Every line is given with its number and a tab before it.',
    parameters: {
      type: 'object',
      properties: {
        skill: { type: 'string', description: 'The name of the skill.' },
        path: { type: 'string', description: `The path of the file, as ${skillToolName} lists it.` },
        ...lineParameters(maxLines),
      },
      required: ['skill', 'path'],
      additionalProperties: false,
    },
    async execute({ skill: name, path, offset = 1, limit = maxLines }, ctx) {
      const { files } = findSkill(all, name)
      const named = toNamedPath(path)
      if (!files) throw toolError(`The skill '${name}' has no files.`)
      const text = toFileText(await files.read(named, ctx, { maxBytes: maxSkillBytes }), named)
      return formatLines(text, { offset, limit: Math.min(limit, maxLines), maxChars })
    },
  })
}

function findSkill(all: readonly Skill[], name: string): Skill {
  const skill = all.find((candidate) => candidate.name === name)
  if (skill) return skill
  throw toolError(`There is no skill '${name}'. Skills: ${all.map((one) => one.name).join(', ')}.`)
}

async function listSkillFiles({ files }: Skill, ctx: ToolContext): Promise<string> {
  if (!files) return ''
  const skipped: string[] = []
  const onSkip = (path: string): void => void skipped.push(`${path}/ (cannot be read)`)
  const paths = walkFiles('', { files, ctx, ignore: ['.git', 'node_modules'], onSkip })
  const page = await takePage(withoutSkillFile(paths), { offset: 0, limit: maxFiles, maxChars })
  return [...page.lines, ...skipped, ...(page.next === undefined ? [] : ['[and more]'])].join('\n')
}

async function* withoutSkillFile(paths: AsyncIterable<string>): AsyncGenerator<string, void> {
  for await (const path of paths) if (path !== skillFile) yield path
}
