import type { Message } from '@ag-ui/core'
import { AIMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import {
  Annotation,
  Command,
  END,
  MemorySaver,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { emit, emitMessage, emitState, emitToolCall, fromLangGraph } from '../../src/langgraph/index.js'
import { callPieces, FakeModel, type ModelStep } from '../support/langgraph/fake-model.js'
import {
  agentModel,
  asked,
  historyOf,
  serveGraph,
  stateOf,
  stepsIn,
  textIn,
  textsIn,
  type ServeGraphOptions,
} from '../support/langgraph/serve-graph.js'
import { ofType, resultsIn } from '../support/run-agent.js'
import { clientVersions, linesOf } from '../support/serve-agents.js'
import { newClient, oldClient } from './support-clients.js'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  notes: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  word: Annotation<string>,
})

const weather = tool(({ city }) => `It rains in ${city}.`, {
  name: 'weather',
  description: 'The weather.',
  schema: z.object({ city: z.string() }),
})

function toolGraph(model: FakeModel) {
  return new StateGraph(State)
    .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('tools', new ToolNode([weather]))
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', toolsCondition)
    .addEdge('tools', 'agent')
}

async function serveChat(
  steps: readonly ModelStep[],
  { kind = 'graph', ...options }: Partial<ServeGraphOptions> & { kind?: 'graph' | 'agent' } = {},
) {
  const model = kind === 'graph' ? new FakeModel(steps) : agentModel(steps)
  const make = (checkpointer: BaseCheckpointSaver) =>
    kind === 'graph'
      ? fromLangGraph(toolGraph(model).compile({ checkpointer }), { name: 'helper' })
      : fromLangGraph(createAgent({ model, tools: [weather], checkpointer }).graph, { name: 'helper' })
  return { model, served: await serveGraph({ make, ...options }) }
}

const weatherSteps: readonly ModelStep[] = [
  ['Let me see.', ...callPieces('c1', 'weather', { city: 'Oslo' })],
  ['It ', 'rains.'],
]
const weatherTalk = [
  'human: Weather in Oslo?',
  'ai: Let me see. weather({"city":"Oslo"})',
  'tool: It rains in Oslo.',
  'ai: It rains.',
]
const weatherLines = [
  'user: Weather in Oslo?',
  'assistant: Let me see. weather({"city":"Oslo"})',
  'tool: It rains in Oslo.',
  'assistant: It rains.',
]

describe.each(clientVersions)('with the client $version', ({ version, Client }) => {
  it.each([
    ['graph', 'memory', 'memory'],
    ['graph', 'sqlite', 'sqlite'],
    ['agent', 'memory', 'sqlite'],
    ['agent', 'sqlite', 'memory'],
  ] as const)(
    'talks over several turns: %s, threads in %s, checkpoints in %s',
    async (kind, store, checkpoints) => {
      const { model, served } = await serveChat([...weatherSteps, ['Yes.'], ['Bye.']], {
        kind,
        store,
        checkpoints,
      })
      const talk = served.talk({ Client })
      const first = await talk.say('Weather in Oslo?')
      expect(resultsIn(first)).toEqual(['c1: It rains in Oslo.'])
      expect(textsIn(first)).toEqual(['Let me see.', 'It rains.'])
      expect(textIn(await talk.say('Sure?'))).toBe('Yes.')
      expect(textIn(await talk.say('Bye'))).toBe('Bye.')
      expect(asked(model.calls[3])).toEqual([...weatherTalk, 'human: Sure?', 'ai: Yes.', 'human: Bye'])
      expect(await historyOf(served)).toEqual(talk.client.messages)
      expect(linesOf(talk.client.messages).slice(0, 4)).toEqual(weatherLines)
    },
  )

  it('shows a fresh client the same messages, ids included, and it goes on', async () => {
    const { model, served } = await serveChat([...weatherSteps, ['Yes.']], {
      store: 'sqlite',
      checkpoints: 'sqlite',
    })
    const talk = served.talk({ Client })
    await talk.say('Weather in Oslo?')
    const again = await served.restart()
    const fresh = version === '1.0' ? newClient({ url: again.url }) : oldClient({ url: again.url })
    await fresh.connectAgent()
    expect(fresh.messages).toEqual(talk.client.messages)
    fresh.addMessage({ id: 'u9', role: 'user', content: 'Sure?' })
    await fresh.runAgent()
    expect(asked(model.calls[2])).toEqual([...weatherTalk, 'human: Sure?'])
  })

  it('a thread that only the checkpointer has is shown with the same messages', async () => {
    const { served } = await serveChat(weatherSteps, { checkpoints: 'sqlite' })
    const talk = served.talk({ Client })
    await talk.say('Weather in Oslo?')
    const again = await served.restart()
    const ids = talk.client.messages.map(({ id, role }) => [id, role])
    expect((await historyOf(again)).map(({ id, role }) => [id, role])).toEqual(ids)
    expect(linesOf(await historyOf(again))).toEqual(weatherLines)
  })

  it('answers anew, and edited messages, with the conversation as it is then', async () => {
    const { model, served } = await serveChat([
      ...weatherSteps,
      ['Cold.'],
      ['Warm.'],
      ['Fine.'],
      ['Nice.'],
      ['Hot.'],
      ['Yes.'],
    ])
    const talk = served.talk({ Client })
    const { client } = talk
    await talk.say('Weather in Oslo?')
    await talk.say('Cold?')
    client.setMessages(client.messages.slice(0, -1))
    expect(textIn(await talk.send())).toBe('Warm.')
    expect(asked(model.calls[3])).toEqual([...weatherTalk, 'human: Cold?'])
    await talk.say('Good?')
    expect(asked(model.calls[4])).toEqual([...weatherTalk, 'human: Cold?', 'ai: Warm.', 'human: Good?'])
    const edited = client.messages.slice(0, -3)
    const last = edited.at(-1)
    expect(last).toMatchObject({ role: 'user', content: 'Cold?' })
    client.setMessages([...edited.slice(0, -1), { ...last, content: 'Nice?' } as Message])
    await talk.send()
    expect(asked(model.calls[5])).toEqual([...weatherTalk, 'human: Nice?'])
    client.setMessages([{ ...client.messages[0], content: 'Rome?' } as Message])
    expect(textIn(await talk.send())).toBe('Hot.')
    expect(asked(model.calls[6])).toEqual(['human: Rome?'])
    await talk.say('Really?')
    expect(asked(model.calls[7])).toEqual(['human: Rome?', 'ai: Hot.', 'human: Really?'])
    expect(await historyOf(served)).toEqual(client.messages)
  })

  it('has nothing to do when nothing is new', async () => {
    const { model, served } = await serveChat(weatherSteps)
    const talk = served.talk({ Client })
    await talk.say('Weather in Oslo?')
    const again = await talk.send()
    expect([textIn(again), model.calls.length, again.at(-1)?.type]).toEqual(['', 2, 'RUN_FINISHED'])
  })
})

/** Runs a graph over a socket, and beside it by `invoke`. */
async function compare(build: () => { compile: (options: object) => unknown }, input = 'Go') {
  type Graph = Parameters<typeof fromLangGraph>[0] & { invoke: (...args: unknown[]) => Promise<unknown> }
  const make = (checkpointer: BaseCheckpointSaver) =>
    fromLangGraph(build().compile({ checkpointer }) as Graph, { name: 'flow' })
  const served = await serveGraph({ make })
  const talk = served.talk()
  const events = await talk.say(input)
  const plain = build().compile({ checkpointer: new MemorySaver() }) as Graph
  const values = (await plain.invoke(
    { messages: [{ role: 'user', content: input }] },
    { configurable: { thread_id: 't' } },
  )) as { messages: AIMessage[] }
  const { messages, ...state } = values
  expect(await stateOf(served)).toEqual(JSON.parse(JSON.stringify(state)))
  return { events, talk, messages, served, state }
}

it('fan-out: each task has a step of its own, and the state is what `invoke` gives', async () => {
  const { events } = await compare(() =>
    new StateGraph(State)
      .addNode('w', ({ word }: { word: string }) => ({ notes: [word] }))
      .addConditionalEdges(START, () => ['a', 'b', 'c'].map((word) => new Send('w', { word })), ['w'])
      .addEdge('w', END),
  )
  expect(stepsIn(events)).toEqual(['w', 'w#2', 'w#3'])
})

it('parallel branches: the texts are kept apart', async () => {
  const { events, messages, talk } = await compare(() => {
    const [a, b] = [new FakeModel([['a1', 'a2', 'a3']]), new FakeModel([['b1', 'b2', 'b3']])]
    return new StateGraph(State)
      .addNode('left', async () => ({ messages: [await a.invoke('x')] }))
      .addNode('right', async () => ({ messages: [await b.invoke('x')] }))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
  })
  expect(textsIn(events).toSorted()).toEqual(['a1a2a3', 'b1b2b3'])
  expect(messages.map(({ text }) => text)).toEqual(talk.client.messages.map(({ content }) => content))
})

it('a graph as a node is a subagent', async () => {
  const { events } = await compare(() => {
    const model = new FakeModel([['inner']])
    const inner = new StateGraph(State)
      .addNode('think', async () => ({ messages: [await model.invoke('x')], notes: ['i'] }))
      .addEdge(START, 'think')
      .compile()
    return new StateGraph(State)
      .addNode('sub', inner)
      .addNode('last', () => ({ word: 'end' }))
      .addEdge(START, 'sub')
      .addEdge('sub', 'last')
  })
  const [span] = ofType(events, 'SUBAGENT_STARTED')
  expect(span).toMatchObject({ name: 'sub' })
  expect(ofType(events, 'SUBAGENT_FINISHED')).toHaveLength(1)
  expect(ofType(events, 'TEXT_MESSAGE_START')).toMatchObject([{ subagentRunId: span?.subagentRunId }])
})

it('a graph in a tool is a subagent of the call', async () => {
  const { events, talk } = await compare(() => {
    const model = new FakeModel([callPieces('c1', 'research', { q: 'x' }), ['Done.']])
    const innerModel = new FakeModel([['Found ', 'it.']])
    const inner = new StateGraph(State)
      .addNode('look', async () => ({ messages: [await innerModel.invoke('x')] }))
      .addEdge(START, 'look')
      .compile({ name: 'Researcher' })
    const research = tool(async () => (await inner.invoke({ messages: [] })).messages.at(-1)?.text ?? '', {
      name: 'research',
      description: 'Researches.',
      schema: z.object({ q: z.string() }),
    })
    return new StateGraph(State)
      .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode('tools', new ToolNode([research]))
      .addEdge(START, 'agent')
      .addConditionalEdges('agent', toolsCondition)
      .addEdge('tools', 'agent')
  })
  expect(ofType(events, 'SUBAGENT_STARTED')).toMatchObject([{ name: 'Researcher', parentToolCallId: 'c1' }])
  expect(textsIn(events)).toEqual(['Found it.', 'Done.'])
  expect(resultsIn(events)).toEqual(['c1: Found it.'])
  // What subagents said is shown, and not told to the model as the agent's own words.
  expect(linesOf(talk.client.messages)).toContain('assistant: Found it.')
  expect((await talk.send()).at(-1)?.type).toBe('RUN_FINISHED')
})

it('a node that is retried, and one that says where to go', async () => {
  const { events } = await compare(() => {
    let tries = 0
    return new StateGraph(State)
      .addNode(
        'shaky',
        () => {
          if (++tries < 3) throw new Error('not yet')
          return new Command({ goto: 'after', update: { notes: [`try ${tries}`] } })
        },
        { retryPolicy: { maxAttempts: 3, initialInterval: 1, logWarning: false }, ends: ['after'] },
      )
      .addNode('after', () => ({ word: 'there' }))
      .addEdge(START, 'shaky')
  })
  expect(stepsIn(events)).toEqual(['shaky', 'shaky', 'shaky', 'after'])
})

it('events of the business, state, messages and calls that a node sends itself', async () => {
  const { events, talk } = await compare(() =>
    new StateGraph(State)
      .addNode('work', async () => {
        await emit('display_chart', { kind: 'line', points: [1, 2] })
        await emitState({ word: 'half' })
        await emitMessage('I am at it.', { id: 'note-1' })
        await emitToolCall({ id: 'shown-1', name: 'paint', args: { color: 'red' }, result: 'painted' })
        return { word: 'whole', messages: [new AIMessage({ id: 'm-1', content: 'Ready.' })] }
      })
      .addEdge(START, 'work'),
  )
  expect(ofType(events, 'CUSTOM')).toMatchObject([
    { name: 'display_chart', value: { kind: 'line', points: [1, 2] } },
  ])
  expect(talk.client.state).toMatchObject({ word: 'whole' })
  expect(JSON.stringify(events)).toContain('half')
  expect(linesOf(talk.client.messages)).toEqual([
    'user: Go',
    'assistant: I am at it.',
    'assistant: paint({"color":"red"})',
    'tool: painted',
    'assistant: Ready.',
  ])
})
