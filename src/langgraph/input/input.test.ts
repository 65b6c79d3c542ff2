import type { Message, Tool } from '@ag-ui/core'
import { type BaseMessage, HumanMessage, RemoveMessage, SystemMessage } from '@langchain/core/messages'
import {
  Annotation,
  type BaseCheckpointSaver,
  MemorySaver,
  MessagesAnnotation,
  messagesStateReducer,
  MessagesValue,
  Overwrite,
  ReducedValue,
  START,
  StateGraph,
  StateSchema,
} from '@langchain/langgraph'
import fc from 'fast-check'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { FakeModel } from '../../../test/support/langgraph/fake-model.js'
import type { StatefulGraph } from '../contract.js'
import { skippedResult } from '../messages/pair-results.js'
import { toAgui } from '../messages/to-agui.js'
import { toLangChain } from '../messages/to-langchain.js'
import { extrasInput } from '../tools/client-extras.js'
import { type InputPlan, planInput } from './plan-input.js'
import { inputKeys, splitState, stateUpdate } from './state-keys.js'

const user = (id: string, content = id): Message => ({ id, role: 'user', content })
const said = (id: string, ...calls: string[]): Message => ({
  id,
  role: 'assistant',
  content: id,
  ...(calls.length > 0 && {
    toolCalls: calls.map((call) => ({
      id: call,
      type: 'function',
      function: { name: 'ask', arguments: '{}' },
    })),
  }),
})
const result = (toolCallId: string, content = 'yes'): Message => ({
  id: `client-${toolCallId}`,
  role: 'tool',
  toolCallId,
  content,
})

function plan(stored: readonly Message[], thread: readonly Message[]): InputPlan {
  return planInput({ messages: thread, stored: toLangChain(stored) })
}

/** The plan in short: results by their call. */
function brief(made: InputPlan): unknown {
  if (!('messages' in made)) return made
  const ids = made.messages.map((message) => {
    const [shown] = toAgui([message])
    return shown?.role === 'tool'
      ? `${shown.toolCallId}=${JSON.stringify(shown.content).slice(1, -1)}`
      : message.id
  })
  return made.type === 'rewind' ? { fork: made.before, ids } : { input: ids }
}

describe('planInput', () => {
  it('gives everything to a graph without a memory', () => {
    const made = planInput({ messages: [user('u1'), said('a1'), user('u2')], stored: undefined })
    expect(brief(made)).toEqual({ input: ['u1', 'a1', 'u2'] })
  })

  it('leaves out messages of subagents', () => {
    const thread: Message[] = [user('u1'), { ...said('x1'), subagentRunId: 'sub' }, user('u2')]
    expect(brief(planInput({ messages: thread, stored: undefined }))).toEqual({ input: ['u1', 'u2'] })
  })

  it('gives what is new to one that has', () => {
    expect(brief(plan([], [user('u1')]))).toEqual({ input: ['u1'] })
    expect(brief(plan([user('u1'), said('a1')], [user('u1'), said('a1'), user('u2')]))).toEqual({
      input: ['u2'],
    })
  })

  it('goes on when there is nothing new', () => {
    expect(plan([user('u1')], [user('u1')])).toEqual({ type: 'continue' })
  })

  it('brings in what another process has added meanwhile', () => {
    const thread = [user('u1'), said('a1'), user('u2'), said('a2'), user('u3')]
    expect(brief(plan([user('u1'), said('a1')], thread))).toEqual({ input: ['u2', 'a2', 'u3'] })
  })

  it('does not bring back what the graph has removed', () => {
    const thread = [user('u1'), said('a1'), user('u2'), said('a2'), user('u3')]
    expect(brief(plan([user('u2'), said('a2')], thread))).toEqual({ input: ['u3'] })
  })

  it('forks before a message that was edited', () => {
    const stored = [user('u1'), said('a1'), user('u2'), said('a2')]
    const thread = [user('u1'), said('a1'), user('u2', 'other words')]
    expect(brief(plan(stored, thread))).toEqual({ fork: 'u2', ids: ['u2'] })
  })

  it('forks where the thread was cut, with another message or without', () => {
    const stored = [user('u1'), said('a1'), user('u2'), said('a2')]
    expect(brief(plan(stored, [user('u1'), said('a1'), user('v2')]))).toEqual({ fork: 'u2', ids: ['v2'] })
    expect(brief(plan(stored, [user('u1'), said('a1'), user('u2')]))).toEqual({ fork: 'a2', ids: [] })
  })

  it('forks before a message that was taken out, and keeps what came after', () => {
    const stored = [user('u1'), said('a1'), user('u2'), said('a2')]
    expect(brief(plan(stored, [user('u1'), user('u2'), said('a2'), user('u3')]))).toEqual({
      fork: 'a1',
      ids: ['u2', 'a2', 'u3'],
    })
  })

  it('does not mind notes of the graph that clients do not see', () => {
    const stored = [
      ...toLangChain([user('u1')]),
      new SystemMessage({ id: 's', content: 'Note' }),
      ...toLangChain([said('a1')]),
    ]
    const made = planInput({ messages: [user('u1'), said('a1'), user('u2')], stored })
    expect(brief(made)).toEqual({ input: ['u2'] })
  })

  it('replaces instructions that have changed', () => {
    const stored: Message[] = [{ id: 's', role: 'system', content: 'Be kind.' }, user('u1'), said('a1')]
    const thread: Message[] = [
      { id: 's', role: 'system', content: 'Be short.' },
      user('u1'),
      said('a1'),
      user('u2'),
    ]
    expect(brief(plan(stored, thread))).toEqual({ input: ['s', 'u2'] })
  })

  it('takes parts that say the same for the same', () => {
    const source = { type: 'data' as const, value: 'aGk=', mimeType: 'text/plain' }
    const message: Message = { id: 'u1', role: 'user', content: [{ type: 'document', source }] }
    expect(plan([message], [message])).toEqual({ type: 'continue' })
    const media = { type: 'media', mimeType: 'video/mp4', fileUri: 'https://files.test/v1' }
    const stored = [new HumanMessage({ id: 'u1', content: [media] })]
    expect(planInput({ messages: toAgui(stored), stored })).toEqual({ type: 'continue' })
  })
})

describe('calls that were left to the client', () => {
  const before = [user('u1'), said('a1', 'c1', 'c2')]

  it('get their results, in whatever order', () => {
    const thread = [...before, result('c2'), result('c1')]
    expect(brief(plan(before, thread))).toEqual({ input: ['c2=yes', 'c1=yes'] })
  })

  it('are waited for while some have none', () => {
    expect(plan(before, [...before, result('c1')])).toEqual({ type: 'wait', toolCallIds: ['c2'] })
  })

  it('are not waited for when they are not the client’s', () => {
    const stored = toLangChain(before)
    const made = planInput({ messages: [...before, result('c1')], stored, isClientTool: () => false })
    expect(brief(made)).toEqual({ input: ['c1=yes', `c2=${skippedResult}`] })
  })

  it('are closed when the user goes on without an answer', () => {
    const thread = [...before, result('c2'), user('u2')]
    expect(brief(plan(before, thread))).toEqual({ input: ['c2=yes', `c1=${skippedResult}`, 'u2'] })
    const made = planInput({ messages: thread, stored: undefined })
    expect(brief(made)).toEqual({ input: ['u1', 'a1', 'c2=yes', `c1=${skippedResult}`, 'u2'] })
  })

  it('are closed only once', () => {
    const first = plan(before, [...before, user('u2')])
    const stored = [
      ...toLangChain(before),
      ...('messages' in first ? first.messages : []),
      ...toLangChain([said('a2')]),
    ]
    const made = planInput({ messages: [...before, user('u2'), said('a2'), user('u3')], stored })
    expect(brief(made)).toEqual({ input: ['u3'] })
  })

  it('replace a synthetic result by a late one', () => {
    const first = plan(before, [...before, user('u2')])
    const stored = [...toLangChain(before), ...('messages' in first ? first.messages : [])]
    const made = planInput({ messages: [...before, result('c1', 'late'), user('u2'), user('u3')], stored })
    expect(brief(made)).toEqual({ input: ['c1=late', 'u3'] })
    expect('messages' in made && made.messages[0]?.id).toBe('c1:result')
  })

  it('are mended in a history that has gone on without them', () => {
    const stored = [...before, user('u2'), said('a2')]
    const made = plan(stored, [...before, result('c1'), user('u2'), said('a2'), user('u3')])
    const messages = 'messages' in made ? made.messages : []
    expect(messages[0]).toBeInstanceOf(RemoveMessage)
    expect(brief({ type: 'input', messages: messages.slice(1) })).toEqual({
      input: ['u1', 'a1', 'c1=yes', `c2=${skippedResult}`, 'u2', 'a2', 'u3'],
    })
  })
})

/** A conversation in which calls may have results or not. */
const conversation = fc
  .array(
    fc.oneof(
      fc.constant({ kind: 'user' as const }),
      fc.record({ kind: fc.constant('said' as const), calls: fc.array(fc.boolean(), { maxLength: 2 }) }),
    ),
    { maxLength: 8 },
  )
  .map((turns) =>
    turns.flatMap((turn, index): Message[] => {
      if (turn.kind === 'user') return [user(`u${index}`)]
      const calls = turn.calls.map((isAnswered, n) => ({ id: `c${index}-${n}`, isAnswered }))
      const results = calls.filter(({ isAnswered }) => isAnswered).map(({ id }) => result(id))
      return [said(`a${index}`, ...calls.map(({ id }) => id)), ...results]
    }),
  )

describe('a plan, once it is carried out', () => {
  it('gives the graph the messages of the thread, with a result for every call', () => {
    fc.assert(
      fc.property(conversation, fc.nat(12), fc.nat(12), (whole, known, cut) => {
        const thread = [...whole.slice(0, cut), user('now')]
        const stored = toLangChain(whole.slice(0, known))
        const made = planInput({ messages: thread, stored })
        if (!('messages' in made)) throw new Error('There is something new.')
        const at = made.type === 'rewind' ? stored.findIndex(({ id }) => id === made.before) : stored.length
        const after = messagesStateReducer(stored.slice(0, at), [...made.messages])
        expect(spoken(after)).toEqual(spoken(toLangChain(thread)))
        expectAnswers(after)
      }),
    )
  })
})

/** All but results, which may be synthetic. */
function spoken(messages: readonly BaseMessage[]): unknown[] {
  return messages.filter(({ type }) => type !== 'tool').map(({ id }) => id)
}

function expectAnswers(messages: readonly BaseMessage[]): void {
  const shown = toAgui(messages)
  for (const [index, message] of shown.entries()) {
    if (message.role !== 'assistant') continue
    const { toolCalls = [] } = message
    const next = shown.slice(index + 1, index + 1 + toolCalls.length)
    const answered = next.map((one) => (one.role === 'tool' ? one.toolCallId : one.id))
    expect(answered.toSorted()).toEqual(toolCalls.map(({ id }) => id).toSorted())
  }
}

it('leaves the stored messages as they are', () => {
  const message = new HumanMessage('Hello')
  planInput({ messages: [user('u1')], stored: [message] })
  expect(message.id).toBeUndefined()
})

describe('state keys', () => {
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
    it.each<[string, StatefulGraph, string[]]>([
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
    const graph = fromAnnotation()
    expect(splitState(graph, state)).toEqual({
      known: { city: 'Bern' },
      rest: { theme: 'dark' },
    })
    expect(splitState(graph, state, (key) => key === 'city' || key === 'theme')).toEqual({
      known: {},
      rest: {},
    })
    expect(splitState(graph, 'text')).toEqual({ known: {}, rest: {} })
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

    it('fills the keys that the state has for them', () => {
      const callable = { type: 'function', name: 'pick', function: tools[0] }
      expect(extrasInput(build(['tools', 'other']), { tools, context })).toEqual({ tools: [callable] })
      expect(extrasInput(build(['ag-ui']), { tools, context })).toEqual({ 'ag-ui': { tools, context } })
      expect(extrasInput(build(['copilotkit']), { tools, context })).toEqual({
        copilotkit: { actions: [callable], context },
      })
      expect(extrasInput(build(['other']), { tools, context })).toEqual({})
    })
  })
})
