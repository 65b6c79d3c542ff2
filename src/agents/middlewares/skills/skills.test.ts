import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClient, resultsIn } from '../../../../test/support/run-agent.js'
import { scriptedModel, type Script } from '../../../models/index.js'
import { defineAgent } from '../../chat/chat-agent.js'
import { skills, type SkillsOptions } from './skills.js'

let base: string
let dir: string

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'millrace-skills-'))
  dir = join(base, 'skills')
  await put('skills/pdf/SKILL.md', skillText('pdf', 'Works with PDF files.', '# PDF\nUse forms.md.'))
  await put('skills/pdf/forms.md', 'one\ntwo\n')
  await put('skills/pdf/scripts/fill.py', 'print()\n')
  await put('skills/notes/SKILL.md', skillText('notes', '>\n  Takes\n  notes.', 'Write them down.'))
  await put('skills/readme.txt', 'not a skill')
  await put('secret', 'the secret')
})

afterEach(() => rm(base, { recursive: true }))

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(base, path)), { recursive: true })
  await writeFile(join(base, path), text)
}

function skillText(name: string, description: string, body: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`
}

function analyst(script: Script, options: SkillsOptions = { dirs: [dir] }) {
  const model = scriptedModel(script)
  const agent = defineAgent({ name: 'analyst', instructions: 'Help.', model, middlewares: [skills(options)] })
  return { model, client: createClient(agent) }
}

const use = (name: string, args: Record<string, unknown>) => ({ toolCall: { id: 'c1', name, args } })

/** What the model gets when it calls a tool. */
async function resultOf(name: string, args: Record<string, unknown>, options?: SkillsOptions) {
  const { client } = analyst([[use(name, args)], 'Ok.'], options)
  const { events, outcome } = await client.say('Go.')
  if (outcome.type === 'failed') throw outcome.error
  return resultsIn(events)[0]?.replace('c1: ', '')
}

describe('skills', () => {
  test('are listed for the model, in the order of their folders', async () => {
    const { client, model } = analyst(['Ok.'])
    await client.say('Hello.')
    expect(model.requests[0]?.instructions).toMatch(
      /^Help\.\n\nYou have skills\..*\n- notes: Takes notes\.\n- pdf: Works with PDF files\.$/,
    )
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['skill', 'read_skill_file'])
  })

  test('are read with a list of their files', async () => {
    expect(await resultOf('skill', { name: 'pdf' })).toBe(
      '# PDF\nUse forms.md.\n\n[Files of this skill, for read_skill_file:]\nforms.md\nscripts/fill.py',
    )
    expect(await resultOf('skill', { name: 'notes' })).toBe('Write them down.')
  })

  test('that are not there are an error that names the others', async () => {
    expect(await resultOf('skill', { name: 'nope' })).toBe(
      "Error: There is no skill 'nope'. Skills: notes, pdf.",
    )
  })

  test('may be one folder', async () => {
    expect(await resultOf('skill', { name: 'notes' }, { dirs: [join(dir, 'notes')] })).toBe(
      'Write them down.',
    )
  })

  test('may be written in the program', async () => {
    const own = { name: 'tea', description: 'Makes tea.', body: 'Boil water.' }
    const { client, model } = analyst([[use('skill', { name: 'tea' })], 'Ok.'], { skills: [own] })
    expect(resultsIn((await client.say('Tea.')).events)).toEqual(['c1: Boil water.'])
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['skill'])
    expect(
      await resultOf('read_skill_file', { skill: 'tea', path: 'a' }, { skills: [own], dirs: [dir] }),
    ).toBe("Error: The skill 'tea' has no files.")
  })

  test('are read anew in every run', async () => {
    const { client, model } = analyst(['Ok.', 'Ok.'])
    await client.say('Hello.')
    await put('skills/tea/SKILL.md', skillText('tea', 'Makes tea.', 'Boil water.'))
    await client.say('Hello.')
    expect(model.requests[1]?.instructions).toContain('- tea: Makes tea.')
  })

  test('in a folder that is empty change nothing', async () => {
    await mkdir(join(base, 'empty'))
    const { client, model } = analyst(['Ok.'], { dirs: [join(base, 'empty')] })
    await client.say('Hello.')
    expect(model.requests[0]).toMatchObject({ instructions: 'Help.' })
    expect(model.requests[0]?.tools).toBeUndefined()
  })
})

describe('a file of a skill', () => {
  test('is read in parts', async () => {
    expect(await resultOf('read_skill_file', { skill: 'pdf', path: 'forms.md', offset: 2 })).toBe(
      '     2\ttwo',
    )
    expect(await resultOf('read_skill_file', { skill: 'pdf', path: './scripts/fill.py' })).toBe(
      '     1\tprint()',
    )
  })

  test.each([
    ['../notes/SKILL.md', /'\.\.'/],
    ['/etc/passwd', /absolute/],
    ['none.md', /There is no file/],
    ['scripts', /is a folder/],
    ['link', /leads out of the folder/],
    ['up/notes/SKILL.md', /leads out of the folder/],
    ['', /empty/],
  ])('is none outside of its folder: %o', async (path, reason) => {
    await symlink('../../secret', join(dir, 'pdf', 'link'))
    await symlink('..', join(dir, 'pdf', 'up'))
    const result = await resultOf('read_skill_file', { skill: 'pdf', path })
    expect(result).toMatch(reason)
    expect(result).not.toContain('the secret')
  })
})

describe('a skill that is broken ends the run at its start, and its file is named', () => {
  test.each([
    ['no front matter', '# PDF', /must begin with a line '---'/],
    ['no name', '---\ndescription: x\n---\nBody.', /'name' is missing/],
    ['no description', '---\nname: x\n---\nBody.', /'description' is missing/],
    ['an empty description', '---\nname: x\ndescription:\n---\nBody.', /'description' must have 1 to 1024/],
    ['a long description', skillText('x', 'y'.repeat(1_025), 'Body.'), /'description' must have 1 to 1024/],
    ['a long name', skillText('x'.repeat(65), 'y', 'Body.'), /'name' must be one line of 1 to 64/],
    ['a list for a name', skillText('[x]', 'y', 'Body.'), /'name' must be text/],
    ['no body', skillText('x', 'y', ''), /nothing in it to read/],
    ['what is not text', 'a\0b', /it is not text/],
    ['the name of another', skillText('notes', 'y', 'Body.'), /Two skills are named 'notes': .*notes/],
  ])('%s', async (_, text, reason) => {
    await put('skills/pdf/SKILL.md', text)
    const { client } = analyst(['Ok.'])
    const { outcome } = await client.say('Hello.')
    const error = outcome.type === 'failed' ? (outcome.error as Error) : undefined
    expect(error).toMatchObject({ code: 'INVALID_AGENT' })
    expect(error?.message).toMatch(reason)
    expect(error?.message).toContain(join(dir, 'pdf', 'SKILL.md'))
  })

  test('a link that leads out of it', async () => {
    await rm(join(dir, 'pdf', 'SKILL.md'))
    await symlink('../../secret', join(dir, 'pdf', 'SKILL.md'))
    const { outcome } = await analyst(['Ok.']).client.say('Hello.')
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'INVALID_AGENT' } })
  })

  test('a folder that is not there', async () => {
    const { outcome } = await analyst(['Ok.'], { dirs: [join(base, 'none')] }).client.say('Hello.')
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'INVALID_AGENT' } })
  })
})

test.each<SkillsOptions>([
  {},
  { dirs: [], skills: [] },
  { skills: [{ name: '', description: 'x', body: 'x' }] },
  { skills: [{ name: 'a\nb', description: 'x', body: 'x' }] },
  { skills: [{ name: 'a', description: ' ', body: 'x' }] },
  { skills: ['a', 'a'].map((name) => ({ name, description: 'x', body: 'x' })) },
])('the options %j are refused', (options) => {
  expect(() => skills(options)).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }))
})
