import { defineTool } from '../../tools/define-tool.js'
import type { Tool, ToolContext } from '../../contract.js'
import { toNamedPath } from '../files/file-path.js'
import { numberLines, toText } from '../files/file-text.js'
import { takePage } from '../files/page.js'
import { lineParameters } from '../files/read-tools.js'
import { walkFiles } from '../files/walk-files.js'
import { toolError } from '../tool-error.js'
import { maxSkillBytes, skillFile } from './load-skills.js'
import type { Skill } from './skill.js'

export const skillToolName = 'skill'
const readName = 'read_skill_file'
const mostFiles = 200
const mostLines = 2_000
const maxChars = 40_000

/** The tool that gives a skill, and what files it has. */
export function skillTool(skills: readonly Skill[]): Tool {
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
      const skill = findSkill(skills, name)
      const files = await filesOf(skill, ctx)
      return files === '' ? skill.body : `${skill.body}\n\n[Files of this skill, for ${readName}:]\n${files}`
    },
  })
}

interface ReadArgs {
  readonly skill: string
  readonly path: string
  readonly offset?: number
  readonly limit?: number
}

/** The tool that reads a file of a skill. */
export function readSkillFileTool(skills: readonly Skill[]): Tool {
  return defineTool<ReadArgs>({
    name: readName,
    description: 'Reads a text file of a skill. Every line is given with its number and a tab before it.',
    parameters: {
      type: 'object',
      properties: {
        skill: { type: 'string', description: 'The name of the skill.' },
        path: { type: 'string', description: `The path of the file, as ${skillToolName} lists it.` },
        ...lineParameters,
      },
      required: ['skill', 'path'],
      additionalProperties: false,
    },
    async execute({ skill: name, path, offset = 1, limit = mostLines }, ctx) {
      const { files } = findSkill(skills, name)
      const named = toNamedPath(path)
      if (!files) throw toolError(`The skill '${name}' has no files.`)
      const text = toText(await files.read(named, ctx, { maxBytes: maxSkillBytes }), named)
      return numberLines(text, { offset, limit: Math.min(limit, mostLines), maxChars })
    },
  })
}

function findSkill(skills: readonly Skill[], name: string): Skill {
  const skill = skills.find((one) => one.name === name)
  if (skill) return skill
  throw toolError(`There is no skill '${name}'. Skills: ${skills.map((one) => one.name).join(', ')}.`)
}

async function filesOf({ files }: Skill, ctx: ToolContext): Promise<string> {
  if (!files) return ''
  const skipped: string[] = []
  const onSkip = (path: string): void => void skipped.push(`${path}/ (cannot be read)`)
  const paths = walkFiles('', { files, ctx, ignore: ['.git', 'node_modules'], onSkip })
  const page = await takePage(without(paths, skillFile), { offset: 0, limit: mostFiles, maxChars })
  return [...page.lines, ...skipped, ...(page.next === undefined ? [] : ['[and more]'])].join('\n')
}

async function* without(paths: AsyncIterable<string>, left: string): AsyncGenerator<string, void> {
  for await (const path of paths) if (path !== left) yield path
}
