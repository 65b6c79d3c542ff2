import { describe, expect, test } from 'vitest'
import { createClient, idOf, ofType, resultsIn } from '../../../test/support/run-agent.js'
import { scriptedModel, type Script } from '../../models/index.js'
import { defineAgent } from '../chat/chat-agent.js'
import { defineTool } from '../tools/define-tool.js'
import { type Todo, type TodoListOptions, formatTodos, toTodos, todoList } from './todo-list.js'

const write = (id: string, todos: unknown) => ({ toolCall: { id, name: 'write_todos', args: { todos } } })
const plan: Todo[] = [
  { content: 'Look', status: 'completed' },
  { content: 'Cut', status: 'in_progress' },
  { content: 'Sew', status: 'pending' },
]

function planner(script: Script, options?: TodoListOptions) {
  const model = scriptedModel(script)
  const ask = defineTool({
    name: 'ask',
    description: 'Asks.',
    execute: async (_, ctx) => (await ctx.interrupt({ message: 'Go on?' })).status,
  })
  const middlewares = [todoList(options)]
  const agent = defineAgent({ name: 'tailor', instructions: 'Sew.', model, tools: [ask], middlewares })
  return { model, client: createClient(agent) }
}

describe('a list that the model writes', () => {
  test('is in the shared state, and the client gets the difference', async () => {
    const changed = plan.map((todo) => ({ ...todo, status: 'completed' }))
    const { client } = planner([[write('c1', plan)], [write('c2', changed)], 'Done.'])
    const { events, outcome } = await client.send({
      state: { color: 'red' },
      messages: [{ id: 'u', role: 'user', content: 'A shirt.' }],
    })
    expect(outcome).toMatchObject({ type: 'completed', state: { color: 'red', todos: changed } })
    expect(ofType(events, 'STATE_DELTA').map(({ delta }) => delta)).toEqual([
      [{ op: 'add', path: '/todos', value: plan }],
      [
        { op: 'replace', path: '/todos/2/status', value: 'completed' },
        { op: 'replace', path: '/todos/1/status', value: 'completed' },
      ],
    ])
  })

  test('is the result of the tool, and each request begins as the one before it', async () => {
    const { client, model } = planner([[write('c1', plan)], [write('c2', [])], 'Done.'])
    const { events } = await client.say('A shirt.')
    const [first, second, third] = model.requests
    expect(new Set(model.requests.map(({ instructions }) => instructions)).size).toBe(1)
    expect(second?.messages.slice(0, first?.messages.length)).toEqual(first?.messages)
    expect(third?.messages.slice(0, second?.messages.length)).toEqual(second?.messages)
    expect(resultsIn(events)).toEqual([
      'c1: The list is now:\n[x] Look\n[>] Cut\n[ ] Sew',
      'c2: The list is empty now.',
    ])
  })

  test('is told in a later run, as the client has left it', async () => {
    const { client, model } = planner([[write('c1', plan)], 'Wait.', 'Going on.'])
    await client.say('A shirt.')
    const messages = [{ id: 'u9', role: 'user' as const, content: 'Go on.' }]
    await client.send({ messages, state: { todos: [{ content: 'Iron', status: 'pending' }, 'nonsense'] } })
    const changed = 'The list of steps has changed. The list is now:\n[ ] Iron'
    expect(model.requests[2]?.messages.at(-1)).toMatchObject({ role: 'user', content: changed })
  })

  test('is told after a question was answered', async () => {
    const { client, model } = planner([
      [write('c1', plan)],
      [{ toolCall: { id: 'c2', name: 'ask' } }],
      'Done.',
    ])
    const asked = await client.say('A shirt.')
    const { outcome } = await client.answer({ [idOf(asked)]: true })
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.', state: { todos: plan } })
    expect(JSON.stringify(model.requests[2]?.messages)).toContain('[>] Cut')
  })

  test('may have several steps in progress', async () => {
    const both = plan.map(({ content }) => ({ content, status: 'in_progress' }))
    const { client } = planner([[write('c1', both)], 'Done.'])
    expect((await client.say('A shirt.')).outcome.state).toEqual({ todos: both })
  })

  test.each([
    ['an unknown status', [{ content: 'Cut', status: 'done' }], '$.todos[0].status'],
    ['nothing to do', [{ content: '', status: 'pending' }], '$.todos[0].content'],
    ['no status', [{ content: 'Cut' }], '$.todos[0].status'],
    ['no list', 'Cut', '$.todos'],
    ['too much', Array.from({ length: 101 }, () => plan[0]), '$.todos'],
  ])('with %s is refused, and the one before stays', async (_, bad, place) => {
    const { client } = planner([[write('c1', plan)], [write('c2', bad)], 'Done.'])
    const { events, outcome } = await client.say('A shirt.')
    expect(outcome).toMatchObject({ type: 'completed', state: { todos: plan } })
    const [, result] = ofType(events, 'TOOL_CALL_RESULT')
    expect(result?.content).toContain(place)
    expect(result?.metadata).toEqual({ millrace: { isError: true } })
  })

  test('cannot be kept in a state that has no names', async () => {
    const { client } = planner([[write('c1', plan)], 'Done.'])
    const messages = [{ id: 'u', role: 'user' as const, content: 'A shirt.' }]
    const { events, outcome } = await client.send({ messages, state: ['a', 'list'] })
    expect(outcome).toMatchObject({ type: 'completed', state: ['a', 'list'] })
    expect(resultsIn(events)[0]).toMatch(/^c1: Error: The shared state is not an object/)
  })
})

test('the place and the words can be chosen', async () => {
  const { client, model } = planner([[write('c1', plan)], 'Done.'], {
    key: 'steps',
    instructions: 'Plan well.',
  })
  expect((await client.say('A shirt.')).outcome.state).toEqual({ steps: plan })
  expect(model.requests[0]?.instructions).toBe('Sew.\n\nPlan well.')
})

test.each(['', '__proto__'])('the key %o is refused', (key) => {
  expect(() => todoList({ key })).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }))
})

test('a list of a client is taken for what it is', () => {
  expect(toTodos(undefined)).toEqual([])
  expect(toTodos({ 0: plan[0] })).toEqual([])
  expect(
    toTodos([...plan, null, { content: 1, status: 'pending' }, { content: 'x', status: 'toString' }]),
  ).toEqual(plan)
  expect(toTodos(Array.from({ length: 200 }, () => plan[0]))).toHaveLength(100)
  expect(formatTodos(toTodos([{ content: `a\nb${'c'.repeat(600)}`, status: 'pending' }]))).toMatch(
    /^\[ \] a bc{497}$/,
  )
})
