import { describe, expect, test } from 'vitest'
import { agentOf, book, call, chat, shownIn, textsOf } from '../../../test/support/prebuilt.js'
import { aborted, createClient, idOf, ofType, play, resultsIn } from '../../../test/support/run-agent.js'
import { manualClock } from '../../core/clock.js'
import { scriptedModel, type Script } from '../../models/index.js'
import { defineTool } from '../tools/define-tool.js'
import { exitTool } from '../tools/control-tools.js'
import type { Files } from '../middlewares/files/files.js'
import { deepAgent, type DeepAgentOptions } from './deep-agent.js'

const task = (id: string, subagent_type: string, description: string) =>
  call(id, 'task', { subagent_type, description })

function deep(script: Script, options: Partial<DeepAgentOptions> = {}) {
  const model = scriptedModel(script)
  return { model, agent: deepAgent({ name: 'deep', model, ...options }) }
}

const toolsOf = (request: { readonly tools?: readonly { readonly name: string }[] } | undefined) =>
  request?.tools?.map(({ name }) => name)

test('it plans, keeps files, gives out work, and the client sees the list and the files', async () => {
  const { agent } = deep(
    [
      [call('w1', 'write_todos', { todos: [{ content: 'ask', status: 'in_progress' }] })],
      [task('t1', 'expert', 'How high is the Eiffel Tower?')],
      [call('f1', 'write_file', { path: 'tower.md', content: '330 m' })],
      'It is 330 m high.',
    ],
    { subAgents: [chat('expert', ['330 m.']).agent] },
  )
  const { events, outcome } = await play(agent, 'How high is it?')
  expect(shownIn(events, 'deep').filter((line) => !line.includes('gets'))).toEqual([
    'deep calls write_todos',
    'deep calls task',
    'expert starts',
    'expert says 330 m.',
    'expert ends',
    'deep calls write_file',
    'deep says It is 330 m high.',
    'RUN_FINISHED',
  ])
  expect(resultsIn(events)[1]).toBe('t1: 330 m.')
  expect(ofType(events, 'SUBAGENT_STARTED')).toMatchObject([{ name: 'expert', parentToolCallId: 't1' }])
  expect(outcome).toMatchObject({
    type: 'completed',
    text: 'It is 330 m high.',
    state: { todos: [{ content: 'ask', status: 'in_progress' }], files: { 'tower.md': '330 m' } },
  })
})

test('its model is told what it has, and whom it can ask', async () => {
  const { agent, model } = deep(['Hi.'], {
    instructions: 'Be thorough.',
    subAgents: [chat('expert', []).agent],
  })
  await play(agent, 'Hi')
  const [request] = model.requests
  expect(request?.instructions).toMatch(/^Be thorough\.[\s\S]*write_todos/)
  expect(toolsOf(request)).toEqual(
    expect.arrayContaining(['task', 'write_todos', 'ls', 'read_file', 'write_file', 'edit_file']),
  )
  const tool = request?.tools?.find(({ name }) => name === 'task')
  expect(tool?.description).toMatch(/\n- general-purpose: Can do[^\n]*\n- expert: The expert\.$/)
  expect(tool?.parameters).toMatchObject({
    properties: { subagent_type: { enum: ['general-purpose', 'expert'] } },
  })
})

describe('a task', () => {
  test('is all that the other agent hears', async () => {
    const expert = chat('expert', ['Yes.'])
    const { agent } = deep([['Secret.', task('t1', 'expert', 'Is it?')], 'It is.'], {
      subAgents: [expert.agent],
    })
    await play(agent, 'Private matters.')
    expect(textsOf(expert.model.requests[0]?.messages)).toEqual([['user', 'Is it?']])
  })

  test('shares the values of the run and the state', async () => {
    const note = defineTool({
      name: 'note',
      description: 'Notes.',
      execute: (_args, { values, setState }) => {
        values.set('noted', true)
        setState((state: object) => ({ ...state, noted: 'yes' }))
        return 'noted'
      },
    })
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      execute: (_args, { values }) => `noted: ${String(values.get('noted'))}`,
    })
    const expert = chat('expert', [[call('n1', 'note')], 'Noted.'], { tools: [note] })
    const { agent } = deep([[task('t1', 'expert', 'Note it.')], [call('l1', 'look')], 'Done.'], {
      subAgents: [expert.agent],
      tools: [look],
    })
    const { events, outcome } = await play(agent, 'Go.')
    expect(resultsIn(events)).toContain('l1: noted: true')
    expect(outcome.state).toMatchObject({ noted: 'yes' })
  })

  test('can be given to several at once, also to one agent twice', async () => {
    const expert = chat('expert', ({ messages }) => `Answer to ${JSON.stringify(messages[0]?.content)}`)
    const { agent } = deep([[task('t1', 'expert', 'one'), task('t2', 'expert', 'two')], 'Both.'], {
      subAgents: [expert.agent],
    })
    const { events } = await play(agent, 'Go.')
    expect(resultsIn(events)).toEqual(['t1: Answer to "one"', 't2: Answer to "two"'])
    expect(new Set(ofType(events, 'SUBAGENT_STARTED').map(({ subagentRunId }) => subagentRunId)).size).toBe(2)
  })

  test.each([
    [
      'nobody that is there',
      { subagent_type: 'nobody', description: 'x' },
      "There is no agent 'nobody'. Agents: general-purpose, expert.",
    ],
    ['no one', { description: 'x' }, "There is no agent 'undefined'. Agents: general-purpose, expert."],
    ['an agent, but no work', { subagent_type: 'expert' }, "A 'description' of the work is missing."],
  ])('for %s is an error that the model is told', async (_what, args, message) => {
    const { agent } = deep([[call('t1', 'task', args)], 'Sorry.'], { subAgents: [chat('expert', []).agent] })
    const { events, outcome } = await play(agent, 'Go.')
    expect(resultsIn(events)).toEqual([`t1: Error: ${message}`])
    expect(outcome).toMatchObject({ type: 'completed', text: 'Sorry.' })
  })

  test('has no time limit of its own: the tools of its agent have that of the run', async () => {
    const clock = manualClock()
    const hang = defineTool({
      name: 'hang',
      description: 'Never ends.',
      execute: (_args, { signal }) => aborted(signal),
    })
    const expert = chat('expert', [[call('h1', 'hang')], [call('h2', 'hang')], 'Late.'], { tools: [hang] })
    const { agent } = deep([[task('t1', 'expert', 'Take your time.')], 'Done.'], {
      subAgents: [expert.agent],
    })
    const played = play(agent, 'Go.', { clock, toolTimeoutMs: 1000 })
    await clock.advance(1000)
    await clock.advance(1000)
    const { events, outcome } = await played
    expect(resultsIn(events)).toEqual([
      "h1: Error: Tool 'hang' took longer than 1000 ms.",
      "h2: Error: Tool 'hang' took longer than 1000 ms.",
      't1: Late.',
    ])
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(clock.pending).toBe(0)
  })

  test('that fails is told to the model', async () => {
    const broken = agentOf('broken', () => {
      throw new Error('no idea')
    })
    const { agent } = deep([[task('t1', 'broken', 'x')], 'Sorry.'], { subAgents: [broken] })
    const { events, outcome } = await play(agent, 'Go.')
    expect(resultsIn(events)).toEqual(['t1: Error: no idea'])
    expect(ofType(events, 'SUBAGENT_ERROR')).toHaveLength(1)
    expect(outcome).toMatchObject({ type: 'completed', text: 'Sorry.' })
  })

  test('asks a person, and goes on with the answer; others are not done again', async () => {
    const clerk = chat('clerk', [[call('b1', 'book')], 'Booked.'], { tools: [book] })
    const expert = chat('expert', ['Known.'])
    const { agent } = deep(
      [[task('t1', 'clerk', 'Book it.'), task('t2', 'expert', 'Know it.')], 'All done.'],
      {
        subAgents: [clerk.agent, expert.agent],
      },
    )
    const client = createClient(agent)
    const first = await client.say('Go.')
    expect(resultsIn(first.events)).toEqual(['t2: Known.'])
    const second = await client.answer({ [idOf(first)]: 'yes' })
    expect(resultsIn(second.events)).toEqual(['b1: booked "yes"', 't1: Booked.'])
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'All done.' })
    expect(expert.model.requests).toHaveLength(1)
  })

  test('that exits ends itself only', async () => {
    const quitter = chat('quitter', [[call('e1', 'exit', { final_result: 'enough' })]], {
      tools: [exitTool()],
    })
    const { agent } = deep([[task('t1', 'quitter', 'x')], 'I go on.'], { subAgents: [quitter.agent] })
    const { events, outcome } = await play(agent, 'Go.')
    expect(resultsIn(events)).toContain('t1: enough')
    expect(outcome).toMatchObject({ type: 'completed', text: 'I go on.' })
  })
})

describe('general-purpose', () => {
  const add = defineTool({ name: 'add', description: 'Adds.', execute: () => '4' })

  test('is the same agent with its tools, files and middlewares, but no list and nobody to give work to', async () => {
    let started = 0
    const counting = {
      onStart() {
        started++
        return undefined
      },
    }
    const { agent, model } = deep(
      [
        [task('t1', 'general-purpose', 'Add 2 and 2.')],
        [call('a1', 'add'), call('f1', 'write_file', { path: 'sum', content: '4' })],
        'It is 4.',
        'The sum is 4.',
      ],
      { tools: [add], middlewares: [counting], instructions: 'Be exact.' },
    )
    const { events, outcome } = await play(agent, '2 + 2?')
    expect(resultsIn(events).at(-1)).toBe('t1: It is 4.')
    expect(outcome).toMatchObject({
      type: 'completed',
      text: 'The sum is 4.',
      state: { files: { sum: '4' } },
    })
    expect(toolsOf(model.requests[1])).toContain('add')
    expect(toolsOf(model.requests[1])).not.toContain('task')
    expect(toolsOf(model.requests[1])).not.toContain('write_todos')
    expect(model.requests[1]?.instructions).toMatch(/^Be exact\./)
    expect(textsOf(model.requests[1]?.messages)).toEqual([['user', 'Add 2 and 2.']])
    expect(started).toBe(2)
  })

  test('tries again and turns to other models as the agent itself does', async () => {
    const other = scriptedModel([[task('t1', 'general-purpose', 'x')], 'Part.', 'Whole.'])
    const failing = scriptedModel(() => [{ error: { status: 500, retryable: false } }])
    const agent = deepAgent({ name: 'deep', model: failing, failover: [other], retry: { attempts: 1 } })
    const { outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', text: 'Whole.' })
  })

  test('answers in words, though the agent answers in JSON', async () => {
    const output = { type: 'object', properties: { sum: { type: 'integer' } } }
    const { agent, model } = deep([[task('t1', 'general-purpose', 'x')], 'Four.', '{"sum":4}'], { output })
    expect((await play(agent, 'Go.')).outcome).toMatchObject({ type: 'completed', result: { sum: 4 } })
    expect(model.requests[1]).not.toHaveProperty('output')
  })

  test('is somebody else when there is one of that name', async () => {
    const own = chat('general-purpose', ['Mine.'])
    const { agent } = deep([[task('t1', 'general-purpose', 'x')], 'Done.'], { subAgents: [own.agent] })
    expect(resultsIn((await play(agent, 'Go.')).events)).toEqual(['t1: Mine.'])
  })
})

test('its files may be elsewhere', async () => {
  const kept = new Map<string, string>()
  const files: Files = {
    list: () => Promise.resolve([...kept.keys()].map((name) => ({ name, kind: 'file' }))),
    read: (path) => Promise.resolve(new TextEncoder().encode(kept.get(path) ?? '')),
    write: (path, text) => Promise.resolve(void kept.set(path, text)),
  }
  const { agent } = deep([[call('f1', 'write_file', { path: 'a', content: 'b' })], 'Kept.'], { files })
  const { outcome } = await play(agent, 'Keep it.')
  expect([...kept]).toEqual([['a', 'b']])
  expect(outcome.state).toEqual({})
})

test('may be asked more often than others before it must come to an end', async () => {
  const { agent, model } = deep((_request, index) => [call(`l${index}`, 'ls')])
  const { outcome } = await play(agent, 'Go.')
  expect(outcome).toMatchObject({ type: 'failed', error: { code: 'MAX_ITERATIONS' } })
  expect(model.requests).toHaveLength(50)
})

test.each([
  ['two of one name', [chat('a', []).agent, chat('a', []).agent]],
  ['one without a description', [{ ...chat('a', []).agent, description: '' }]],
])('it is refused with %s', (_what, subAgents) => {
  expect(() => deep([], { subAgents })).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }) as Error)
})
