import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createClient, idOf, resultsIn } from '../../../test/support/run-agent.js'
import { scriptedModel } from '../../models/index.js'
import { defineAgent } from '../chat/chat-agent.js'
import { defineTool } from '../tools/define-tool.js'
import { fileWorkspace } from './files/file-workspace.js'
import { stateFiles } from './files/state-files.js'
import { offloadResults } from './offload-results.js'
import { skills } from './skills/skills.js'
import { todoList } from './todo-list.js'
import { toolSearch } from './tool-search/tool-search.js'

let base: string

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'millrace-together-'))
  await mkdir(join(base, 'report'))
  await writeFile(
    join(base, 'report', 'SKILL.md'),
    '---\nname: report\ndescription: Reports.\n---\nBe brief.\n',
  )
})

afterEach(() => rm(base, { recursive: true }))

const use = (id: string, name: string, args: Record<string, unknown> = {}) => ({
  toolCall: { id, name, args },
})

test('all of them work in one agent, and what they keep is there after a question', async () => {
  const publish = defineTool({
    name: 'publish',
    description: 'Publishes a report.',
    execute: async (_, ctx) => (await ctx.interrupt({ message: 'Publish?' })).status,
  })
  const model = scriptedModel([
    [use('c1', 'write_todos', { todos: [{ content: 'Write', status: 'in_progress' }] })],
    [use('c2', 'skill', { name: 'report' }), use('c3', 'tool_search', { query: '+publish' })],
    [use('c4', 'write_file', { path: 'report.md', content: 'Good.' })],
    [use('c5', 'publish')],
    [use('c6', 'read_file', { path: 'report.md' }), use('c7', 'publish')],
  ])
  const middlewares = [
    offloadResults(),
    todoList(),
    fileWorkspace({ backend: stateFiles() }),
    skills({ dirs: [base] }),
    toolSearch({ tools: [publish] }),
  ]
  const client = createClient(defineAgent({ name: 'deep', model, middlewares }))
  const asked = await client.say('A report, please.')
  expect(asked.outcome.state).toEqual({
    todos: [{ content: 'Write', status: 'in_progress' }],
    files: { 'report.md': 'Good.' },
  })
  const again = await client.answer({ [idOf(asked)]: true })
  expect(resultsIn(again.events)).toEqual(['c5: resolved', 'c6:      1\tGood.'])
  expect(again.outcome).toMatchObject({ type: 'interrupted' })
  expect(JSON.stringify(model.requests[4]?.messages)).toContain('[>] Write')
  expect(model.requests.map(({ tools = [] }) => tools.some(({ name }) => name === 'publish'))).toEqual([
    ...[false, false, true, true, true],
  ])
})
