import { MillraceError } from '../../../core/errors.js'
import type { Middleware } from '../../chat/middleware.js'
import { addInstructions } from '../add-instructions.js'
import { loadSkills, type LoadedSkill } from './load-skills.js'
import { checkSkill, type Skill } from './skill.js'
import { readSkillFileTool, skillTool, skillToolName } from './skill-tools.js'

export interface SkillsOptions {
  /** Folders on disk: each a skill, with a SKILL.md in it, or a folder of such folders. Read at the start of a run. */
  readonly dirs?: readonly string[]
  /** Skills from elsewhere. */
  readonly skills?: readonly Skill[]
}

/**
 * Gives an agent skills. The model is told their names and descriptions, and reads one with the tool `skill` when it has
 * such work to do. Other files in the folder of a skill can be read with `read_skill_file`, and none outside of it.
 *
 * A SKILL.md begins with front matter that has `name` and `description`. One that is broken, and two skills of one name,
 * end the run at its start with INVALID_AGENT, which names the file.
 *
 * @example
 * const agent = defineAgent({ name: 'analyst', model, middlewares: [skills({ dirs: ['./skills'] })] })
 */
export function skills({ dirs = [], skills: own = [] }: SkillsOptions): Middleware {
  if (dirs.length === 0 && own.length === 0)
    throw new MillraceError('INVALID_AGENT', "Give skills with 'dirs' or 'skills'.")
  const placed = own.map((skill) => ({ ...skill, place: `the option 'skills'` }))
  for (const skill of placed) checkSkill(skill, `${skill.place} ('${skill.name}')`)
  checkNames(placed)
  return {
    async onStart(setup, ctx) {
      const all = [...placed, ...(await loadSkills(dirs, ctx.signal))]
      checkNames(all)
      if (all.length === 0) return undefined
      const tools = [skillTool(all), ...(all.some(({ files }) => files) ? [readSkillFileTool(all)] : [])]
      return {
        instructions: addInstructions(setup.instructions, listOf(all)),
        tools: [...setup.tools, ...tools],
      }
    },
  }
}

function checkNames(all: readonly LoadedSkill[]): void {
  const places = new Map<string, string>()
  for (const { name, place } of all) {
    const other = places.get(name)
    if (other !== undefined)
      throw new MillraceError(
        'INVALID_AGENT',
        `Two skills are named '${name}': ${other} and ${place}. Rename one.`,
      )
    places.set(name, place)
  }
}

function listOf(all: readonly Skill[]): string {
  const lines = all.map(({ name, description }) => `- ${name}: ${description.replaceAll(/\s+/g, ' ').trim()}`)
  return [
    `You have skills. Before work that one of them is for, read it with the tool ${skillToolName}.`,
    ...lines,
  ].join('\n')
}
