import type { Message } from '@ag-ui/core'
import { AIMessage, HumanMessage, RemoveMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import {
  Annotation,
  type BaseCheckpointSaver,
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  REMOVE_ALL_MESSAGES,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  emit,
  emitMessage,
  emitState,
  emitToolCall,
  fromLangGraph,
  type LangGraphOptions,
} from '../../src/langgraph/index.js'
import { awaitClientResult } from '../../src/langgraph/tools/client-tools.js'
import { callChunks, FakeModel, type ModelStep } from '../support/langgraph/fake-model.js'
import {
  agentModel,
  clientTool,
  historyOf,
  interruptsIn,
  promptText,
  serveGraph,
  type ServeGraphOptions,
  stateOf,
  stepsIn,
  textIn,
  textsIn,
} from '../support/langgraph/serve-graph.js'
import { ofType, resultsIn } from '../support/run-agent.js'
import { clientVersions, linesOf, serveAgents } from '../support/serve-agents.js'
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
  ['Let me see.', ...callChunks('c1', 'weather', { city: 'Oslo' })],
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
      expect(promptText(model.calls[3])).toEqual([...weatherTalk, 'human: Sure?', 'ai: Yes.', 'human: Bye'])
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
    expect(promptText(model.calls[2])).toEqual([...weatherTalk, 'human: Sure?'])
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
    expect(promptText(model.calls[3])).toEqual([...weatherTalk, 'human: Cold?'])
    await talk.say('Good?')
    expect(promptText(model.calls[4])).toEqual([...weatherTalk, 'human: Cold?', 'ai: Warm.', 'human: Good?'])
    const edited = client.messages.slice(0, -3)
    const last = edited.at(-1)
    expect(last).toMatchObject({ role: 'user', content: 'Cold?' })
    client.setMessages([...edited.slice(0, -1), { ...last, content: 'Nice?' } as Message])
    await talk.send()
    expect(promptText(model.calls[5])).toEqual([...weatherTalk, 'human: Nice?'])
    client.setMessages([{ ...client.messages[0], content: 'Rome?' } as Message])
    expect(textIn(await talk.send())).toBe('Hot.')
    expect(promptText(model.calls[6])).toEqual(['human: Rome?'])
    await talk.say('Really?')
    expect(promptText(model.calls[7])).toEqual(['human: Rome?', 'ai: Hot.', 'human: Really?'])
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
    const model = new FakeModel([callChunks('c1', 'research', { q: 'x' }), ['Done.']])
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
  // Messages of subagents are shown, and the model does not get them as the agent's own.
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

describe('kinds of graphs', () => {
  it('a graph whose state has no messages runs on its state alone', async () => {
    const State = Annotation.Root({ topic: Annotation<string>, outline: Annotation<string[]> })
    const served = await serveGraph({
      make: (checkpointer) =>
        fromLangGraph(
          new StateGraph(State)
            .addNode('plan', ({ topic }) => ({ outline: [`${topic} 1`, `${topic} 2`] }))
            .addEdge(START, 'plan')
            .compile({ checkpointer }),
          { name: 'planner' },
        ),
    })
    const talk = served.talk()
    for (const topic of ['Sea', 'Sky']) {
      talk.client.setState({ ...(talk.client.state as object), topic })
      const events = await talk.say('Go')
      expect(events.at(-1)?.type).toBe('RUN_FINISHED')
      expect(await stateOf(served)).toEqual({ topic, outline: [`${topic} 1`, `${topic} 2`] })
    }
  })

  it('an interrupt beside a client tool call: both are answered', async () => {
    const model = new FakeModel([callChunks('c1', 'pick', {})])
    const served = await serveGraph({
      store: 'sqlite',
      checkpoints: 'sqlite',
      make: (checkpointer) =>
        fromLangGraph(
          new StateGraph(MessagesAnnotation)
            .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
            .addNode('pick', () => ({ messages: [awaitClientResult({ id: 'c1', name: 'pick', args: {} })] }))
            .addNode('ask', () => ({
              messages: [{ role: 'assistant', content: `Said ${interrupt<string, string>('Sure?')}.` }],
            }))
            .addEdge(START, 'agent')
            .addEdge('agent', 'pick')
            .addEdge('agent', 'ask')
            .compile({ checkpointer }),
          { name: 'helper' },
        ),
    })
    const tools = [clientTool('pick')]
    const talk = served.talk()
    const questions = interruptsIn(await talk.say('Go', { tools }))
    expect(questions).toMatchObject([{ message: 'Sure?' }])
    const next = (await served.restart()).talk()
    next.client.setMessages(talk.client.messages)
    const resume = [{ interruptId: questions[0]?.id ?? '', status: 'resolved' as const, payload: 'yes' }]
    const events = await next.answer({ c1: 'red' }, { tools, resume })
    expect(textIn(events)).toBe('Said yes.')
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  })

  it('a graph that speaks in the name of a person is not taken back by the next turn', async () => {
    const model = new FakeModel([['Draft.'], ['Better.'], ['Bye.']])
    const say = async ({ messages }: typeof MessagesAnnotation.State) => ({
      messages: [await model.invoke(messages)],
    })
    const served = await serveGraph({
      make: (checkpointer) =>
        fromLangGraph(
          new StateGraph(MessagesAnnotation)
            .addNode('write', say)
            .addNode('review', () => ({ messages: [{ role: 'user', content: 'Shorter.' }] }))
            .addNode('rewrite', say)
            .addEdge(START, 'write')
            .addConditionalEdges('write', ({ messages }) => (messages.length > 3 ? '__end__' : 'review'))
            .addEdge('review', 'rewrite')
            .compile({ checkpointer }),
          { name: 'writer' },
        ),
    })
    const talk = served.talk()
    await talk.say('Write')
    const lines = ['user: Write', 'assistant: Draft.', 'assistant: Better.']
    expect(linesOf(await historyOf(served))).toEqual(lines)
    await talk.say('Thanks')
    expect(promptText(model.calls[2])).toEqual([
      'human: Write',
      'ai: Draft.',
      'human: Shorter.',
      'ai: Better.',
      'human: Thanks',
    ])
  })

  it('a graph that replaces its messages by a summary keeps it, and clients keep theirs', async () => {
    const model = new FakeModel([['One.'], ['Two.'], ['Three.']])
    const served = await serveGraph({
      make: (checkpointer) =>
        fromLangGraph(
          new StateGraph(MessagesAnnotation)
            .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
            .addNode('sum', ({ messages }) => {
              if (messages.length < 4) return {}
              const all = new RemoveMessage({ id: REMOVE_ALL_MESSAGES })
              return { messages: [all, new HumanMessage('Summary.'), ...messages.slice(-1)] }
            })
            .addEdge(START, 'agent')
            .addEdge('agent', 'sum')
            .compile({ checkpointer }),
          { name: 'helper' },
        ),
    })
    const talk = served.talk()
    for (const text of ['First', 'Second', 'Third']) await talk.say(text)
    expect(promptText(model.calls[2])).toEqual(['human: Summary.', 'ai: Two.', 'human: Third'])
    expect(linesOf(await historyOf(served))).toEqual([
      ...['user: First', 'assistant: One.', 'user: Second', 'assistant: Two.'],
      ...['user: Third', 'assistant: Three.'],
    ])
  })

  it('graphs inside a graph can be shown by their steps alone', async () => {
    const model = new FakeModel([['Inner.'], ['Outer.']])
    const say = async ({ messages }: typeof MessagesAnnotation.State) => ({
      messages: [await model.invoke(messages)],
    })
    const served = await serveGraph({
      make: (checkpointer) => {
        const inner = new StateGraph(MessagesAnnotation)
          .addNode('look', say)
          .addNode('ask', () => ({
            messages: [{ role: 'assistant', content: `Took ${interrupt<string, string>('Which?')}.` }],
          }))
          .addEdge(START, 'look')
          .addEdge('look', 'ask')
          .compile({ name: 'Finder' })
        const graph = new StateGraph(MessagesAnnotation)
          .addNode('find', inner)
          .addNode('tell', say)
          .addEdge(START, 'find')
          .addEdge('find', 'tell')
          .compile({ checkpointer })
        return fromLangGraph(graph, { name: 'helper', subgraphs: 'steps' })
      },
    })
    const talk = served.talk()
    const first = await talk.say('Go')
    const [question] = interruptsIn(first)
    expect(stepsIn(first)).toEqual(['find', 'Finder/look', 'Finder/ask'])
    const resume = [{ interruptId: question?.id ?? '', status: 'resolved' as const, payload: 'one' }]
    const second = await talk.send({ resume })
    expect(stepsIn(second)).toEqual(['find', 'Finder/ask', 'tell'])
    for (const event of [...first, ...second]) expect(event).not.toHaveProperty('subagentRunId')
    expect(linesOf(await historyOf(served))).toEqual([
      'user: Go',
      'assistant: Inner.',
      'assistant: Took one.',
      'assistant: Outer.',
    ])
    await talk.say('Again').catch(() => undefined)
    expect(promptText(model.calls[2])).toEqual([
      'human: Go',
      'ai: Inner.',
      'ai: Took one.',
      'ai: Outer.',
      'human: Again',
    ])
  })
})

describe('threads that are changed elsewhere', () => {
  const State = Annotation.Root({
    ...MessagesAnnotation.spec,
    word: Annotation<string>,
    secret: Annotation<string>,
    notes: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  })
  const identify = (request: Request) => ({ user: request.headers.get('x-user') ?? 'nobody' })
  const ann = { 'x-user': 'ann' }
  const bob = { 'x-user': 'bob' }

  function chat(steps: readonly ModelStep[], checkpointer: BaseCheckpointSaver) {
    const model = new FakeModel(steps)
    const seen: unknown[] = []
    const graph = new StateGraph(State)
      .addNode('agent', async ({ messages, word }) => {
        seen.push(word)
        return { messages: [await model.invoke(messages)], notes: ['turn'], secret: 's3cret' }
      })
      .addEdge(START, 'agent')
      .compile({ checkpointer })
    return { model, graph, seen }
  }

  const shared: LangGraphOptions = {
    name: 'helper',
    threadId: ({ threadId }) => threadId,
    privateKeys: ['secret'],
  }

  async function serveShared(steps: readonly ModelStep[]) {
    const checkpointer = new MemorySaver()
    const { model, graph, seen } = chat(steps, checkpointer)
    const served = await serveAgents({ agents: [fromLangGraph(graph, shared)], identify })
    const config = { configurable: { thread_id: 'made-elsewhere' } }
    return {
      ...{ model, graph, seen, served, config, checkpointer },
      sayElsewhere: (content: string) => graph.invoke({ messages: [{ role: 'user', content }] }, config),
    }
  }

  it('a thread that was made elsewhere is read, by clients old and new', async () => {
    const { served, sayElsewhere } = await serveShared([['Found.']])
    await sayElsewhere('Look')
    const messages = await historyOf(served, 'made-elsewhere', ann)
    expect(linesOf(messages)).toEqual(['user: Look', 'assistant: Found.'])
    expect(await stateOf(served, 'made-elsewhere', ann)).toEqual({ notes: ['turn'] })
    for (const makeClient of [newClient, oldClient]) {
      const client = makeClient({ url: served.url, threadId: 'made-elsewhere', headers: ann })
      await client.connectAgent()
      expect(client.messages).toEqual(messages)
      expect(client.state).toEqual({ notes: ['turn'] })
    }
  })

  it('it is gone on with by a client that has read it, and elsewhere again', async () => {
    const { model, served, sayElsewhere, graph, config } = await serveShared([
      ['Found.'],
      ['Yes.'],
      ['Here.'],
    ])
    await sayElsewhere('Look')
    const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
    talk.client.setMessages(await historyOf(served, 'made-elsewhere', ann))
    expect(textIn(await talk.say('Sure?'))).toBe('Yes.')
    const first = ['human: Look', 'ai: Found.', 'human: Sure?']
    expect(promptText(model.calls[1])).toEqual(first)
    await sayElsewhere('And here?')
    expect(promptText(model.calls[2])).toEqual([...first, 'ai: Yes.', 'human: And here?'])
    expect((await graph.getState(config)).values).toMatchObject({ notes: ['turn', 'turn', 'turn'] })
  })

  it('it is gone on with by a client that knows nothing of it', async () => {
    const { model, served, sayElsewhere } = await serveShared([['Found.'], ['Yes.']])
    await sayElsewhere('Look')
    const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
    expect(textIn(await talk.say('Sure?'))).toBe('Yes.')
    expect(promptText(model.calls[1])).toEqual(['human: Look', 'ai: Found.', 'human: Sure?'])
    expect(linesOf(talk.client.messages)[0]).toBe('user: Look')
  })

  it('messages added elsewhere meanwhile stay, and the client gets them in order', async () => {
    const { model, served, sayElsewhere } = await serveShared([['Found.'], ['There.'], ['Yes.'], ['Bye.']])
    const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
    await talk.say('Look')
    await sayElsewhere('Meanwhile')
    expect(textIn(await talk.say('And?'))).toBe('Yes.')
    const lines = ['user: Look', 'assistant: Found.', 'user: Meanwhile', 'assistant: There.', 'user: And?']
    expect(promptText(model.calls[2])).toEqual(
      lines.map((line) => line.replace('user:', 'human:').replace('assistant:', 'ai:')),
    )
    expect(linesOf(await historyOf(served, 'made-elsewhere', ann))).toEqual([...lines, 'assistant: Yes.'])
    expect(linesOf(talk.client.messages)).toEqual([...lines, 'assistant: Yes.'])
    await talk.say('Bye')
    expect(model.calls[3]).toHaveLength(7)
  })

  it('messages that were added to the state elsewhere stay', async () => {
    const { model, served, graph, config } = await serveShared([['Found.'], ['Yes.']])
    const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
    await talk.say('Look')
    await graph.updateState(config, { messages: [{ role: 'assistant', content: 'By the way.' }] })
    await graph.updateState(config, { notes: ['seen'] })
    await talk.say('And?')
    expect(promptText(model.calls[1])).toEqual([
      'human: Look',
      'ai: Found.',
      'ai: By the way.',
      'human: And?',
    ])
  })

  it('a client that changes what was before that leaves it behind', async () => {
    const { model, served, sayElsewhere } = await serveShared([['Found.'], ['There.'], ['Yes.']])
    const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
    await talk.say('Look')
    await sayElsewhere('Meanwhile')
    const [first] = talk.client.messages
    talk.client.setMessages([{ id: first?.id ?? '', role: 'user', content: 'Other' }])
    await talk.send()
    expect(promptText(model.calls[2])).toEqual(['human: Other'])
  })

  it('an edit replaces what a cancelled or failed run has left behind', async () => {
    const { model, served } = await serveShared([['Found.'], [new Error('broken')], ['Yes.']])
    const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
    await talk.say('Look')
    const before = [...talk.client.messages]
    await talk.say('Wrong').catch(() => undefined)
    talk.client.setMessages(before)
    await talk.say('Right')
    expect(promptText(model.calls[2])).toEqual(['human: Look', 'ai: Found.', 'human: Right'])
  })

  it('what is deleted is deleted from the checkpointer', async () => {
    const { served, graph, config } = await serveShared([['Found.'], ['Anew.']])
    const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
    await talk.say('Look')
    expect((await graph.getState(config)).next).toEqual([])
    const { status } = await served.ask('DELETE /thread/made-elsewhere', { headers: ann })
    expect(status).toBeLessThan(300)
    expect((await graph.getState(config)).values).toEqual({})
  })

  it('a state that is changed without a run reaches the checkpointer, and the next run', async () => {
    const { served, graph, config, seen } = await serveShared([['One.'], ['Two.']])
    const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
    await talk.say('Look')
    const { status } = await served.ask('PATCH /state/made-elsewhere', {
      headers: ann,
      body: [
        { op: 'add', path: '/word', value: 'new' },
        { op: 'replace', path: '/notes', value: ['mine'] },
      ],
    })
    expect(status).toBe(200)
    expect((await graph.getState(config)).values).toMatchObject({
      word: 'new',
      notes: ['mine'],
      secret: 's3cret',
    })
    await talk.say('Again')
    expect(seen).toEqual([undefined, 'new'])
    expect(await stateOf(served, 'made-elsewhere', ann)).toEqual({ word: 'new', notes: ['mine', 'turn'] })
  })

  it('the same thread id of two users and of two agents are four threads', async () => {
    const checkpointer = new MemorySaver()
    const steps = ['1', '2', '3', '4'].map((text) => [text])
    const [a, b] = [chat(steps, checkpointer), chat(steps, checkpointer)]
    const agents = [fromLangGraph(a.graph, { name: 'a' }), fromLangGraph(b.graph, { name: 'b' })] as const
    const served = await serveAgents({ agents, identify })
    for (const [agent, model] of [
      ['a', a.model],
      ['b', b.model],
    ] as const)
      for (const headers of [ann, bob]) {
        const client = newClient({ url: `${served.url}/agents/${agent}`, headers })
        client.addMessage({ id: 'u1', role: 'user', content: `${agent} ${headers['x-user']}` })
        await client.runAgent()
        expect(promptText(model.calls.at(-1))).toEqual([`human: ${agent} ${headers['x-user']}`])
      }
    const threads = Object.keys(checkpointer.storage)
    expect(new Set(threads).size).toBe(4)
  })
})
