import type { Tool } from '@ag-ui/core'
import {
  Annotation,
  MemorySaver,
  MessagesAnnotation,
  MessagesValue,
  Overwrite,
  ReducedValue,
  START,
  StateGraph,
  StateSchema,
  type BaseCheckpointSaver,
} from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { FakeModel } from '../../../test/support/langgraph/fake-model.js'
import { extrasInput, inputKeys, splitState, stateUpdate, type StateGraphLike } from './state-keys.js'

const concat = (a: string[], b: string[]): string[] => [...a, ...b]
const annotated = Annotation.Root({
  ...MessagesAnnotation.spec,
  city: Annotation<string>(),
  log: Annotation<string[]>({ reducer: concat, default: () => [] }),
})
const schema = new StateSchema({
  messages: MessagesValue,
  city: z.string().optional(),
  log: new ReducedValue(z.array(z.string()).default([]), {
    inputSchema: z.array(z.string()),
    reducer: concat,
  }),
})
const zod = z.object({ messages: z.array(z.unknown()), city: z.string().optional() })

const fromAnnotation = (checkpointer?: BaseCheckpointSaver) =>
  new StateGraph(annotated)
    .addNode('n', () => ({}))
    .addEdge(START, 'n')
    .compile(checkpointer ? { checkpointer } : {})
const fromSchema = (checkpointer?: BaseCheckpointSaver) =>
  new StateGraph(schema)
    .addNode('n', () => ({}))
    .addEdge(START, 'n')
    .compile(checkpointer ? { checkpointer } : {})
const fromZod = () =>
  new StateGraph(zod)
    .addNode('n', () => ({}))
    .addEdge(START, 'n')
    .compile()

describe('inputKeys', () => {
  it.each<[string, StateGraphLike, string[]]>([
    ['annotations', fromAnnotation(), ['city', 'log', 'messages']],
    ['a StateSchema', fromSchema(), ['city', 'log', 'messages']],
    ['zod', fromZod(), ['city', 'messages']],
    [
      'an agent',
      createAgent({
        model: new FakeModel([]),
        tools: [],
        stateSchema: z.object({ color: z.string().optional() }),
      }).graph,
      ['color', 'messages'],
    ],
    [
      'a schema for the input alone',
      new StateGraph({ state: annotated, input: Annotation.Root({ city: Annotation<string>() }) })
        .addNode('n', () => ({}))
        .addEdge(START, 'n')
        .compile(),
      ['city'],
    ],
    ['channels alone', { channels: { city: {}, __start__: {}, 'branch:to:n': {} } }, ['city']],
  ])('reads those of %s', (_name, graph, keys) => {
    expect([...inputKeys(graph)].toSorted()).toEqual(keys)
  })
})

it('tells the graph’s state from the client’s own', () => {
  const state = { city: 'Bern', theme: 'dark', messages: ['no'] }
  expect(splitState(state, inputKeys(fromAnnotation()))).toEqual({
    known: { city: 'Bern' },
    rest: { theme: 'dark' },
  })
  expect(splitState('text', new Set())).toEqual({ known: {}, rest: {} })
})

describe.each([
  ['annotations', fromAnnotation],
  ['a StateSchema', fromSchema],
])('a state that comes back from a client, with %s', (_name, build) => {
  it('changes only what the client has changed', async () => {
    const graph = build(new MemorySaver())
    const config = { configurable: { thread_id: 't' } }
    await graph.invoke({ city: 'Bern', log: ['a'] }, config)
    const { values } = (await graph.getState(config)) as { values: unknown }
    expect(stateUpdate(graph, { city: 'Bern', log: ['a'] }, values)).toEqual({})
    const update = stateUpdate(graph, { city: 'Basel', log: ['b'] }, values)
    expect(update).toEqual({ city: 'Basel', log: new Overwrite(['b']) })
    await graph.invoke(update, config)
    expect((await graph.getState(config)).values).toMatchObject({ city: 'Basel', log: ['b'] })
  })

  it('is all there is for a graph without a memory', async () => {
    const graph = build()
    const update = stateUpdate(graph, { city: 'Bern', log: ['a'] }, undefined)
    expect(await graph.invoke(update as never)).toMatchObject({ city: 'Bern', log: ['a'] })
  })
})

it('compares with what clients see of a value that is no JSON', () => {
  const when = new Date(0)
  expect(stateUpdate(fromAnnotation(), { city: when.toJSON() }, { city: when })).toEqual({})
})

describe('extrasInput', () => {
  const tools: Tool[] = [
    { name: 'pick', description: 'Picks', parameters: { type: 'object', properties: {} } },
  ]
  const context = [{ description: 'Page', value: 'Home' }]
  const build = (keys: string[]) =>
    new StateGraph(Annotation.Root(Object.fromEntries(keys.map((key) => [key, Annotation<unknown>()]))))
      .addNode('n', () => ({}))
      .addEdge(START, 'n')
      .compile()

  it('fills the places that the state has for them', () => {
    const callable = { type: 'function', name: 'pick', function: tools[0] }
    expect(extrasInput(build(['tools', 'other']), { tools, context })).toEqual({ tools: [callable] })
    expect(extrasInput(build(['ag-ui']), { tools, context })).toEqual({ 'ag-ui': { tools, context } })
    expect(extrasInput(build(['copilotkit']), { tools, context })).toEqual({
      copilotkit: { actions: [callable], context },
    })
    expect(extrasInput(build(['other']), { tools, context })).toEqual({})
  })
})
