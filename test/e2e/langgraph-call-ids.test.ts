import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, type AIMessageChunk, type BaseMessage, type ToolCall } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import {
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { createAgent, humanInTheLoopMiddleware, type AgentMiddleware } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { clientTools, fromLangGraph, getClientTools } from '../../src/langgraph/index.js'
import { callChunks, FakeModel } from '../support/langgraph/fake-model.js'
import {
  agentModel,
  clientTool,
  historyOf,
  interruptsIn,
  promptText,
  serveGraph,
} from '../support/langgraph/serve-graph.js'
import { ofType } from '../support/run-agent.js'
import { linesOf, serveAgents, type ServedAgents } from '../support/serve-agents.js'

/** Graphs whose calls share an id, in every way that calls can come into a graph. */

type State = typeof MessagesAnnotation.State

const work = tool(({ n }: { n: number }) => `worked ${n}`, {
  ...{ name: 'work', description: 'Works.', schema: z.object({ n: z.number() }) },
})

const call = (n: number, name = 'work') => callChunks('call_0', name, { n })

/** Runs every call of the last message, whatever its id. `ToolNode` leaves out those with the id of an older result. */
async function runTools({ messages }: State): Promise<{ messages: BaseMessage[] }> {
  const calls = (messages.at(-1) as AIMessage).tool_calls ?? []
  const run = (one: ToolCall) => work.invoke({ ...one, type: 'tool_call' }) as Promise<BaseMessage>
  return { messages: await Promise.all(calls.map(run)) }
}

const hasCalls = ({ messages }: State) =>
  ((messages.at(-1) as AIMessage).tool_calls ?? []).length > 0 ? 'tools' : END

/** A node that reads the stream itself: what it returns has the ids of the model. */
function streaming(model: FakeModel) {
  return async ({ messages }: State) => {
    let whole: AIMessageChunk | undefined
    for await (const chunk of await model.stream(messages)) whole = whole ? whole.concat(chunk) : chunk
    return { messages: whole ? [whole] : [] }
  }
}

/** A node that makes its calls itself, without a model. */
function scripted(steps: readonly (number | string)[]) {
  let step = 0
  return () => {
    const now = steps[step++] ?? ''
    const calls = typeof now === 'number' ? [{ id: 'call_0', name: 'work', args: { n: now } }] : []
    const content = typeof now === 'string' ? now : ''
    return { messages: [new AIMessage({ content, tool_calls: calls })] }
  }
}

function loop(agent: (state: State) => unknown, checkpointer?: BaseCheckpointSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode('agent', agent as () => Partial<State>)
    .addNode('tools', runTools)
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', hasCalls)
    .addEdge('tools', 'agent')
    .compile(checkpointer && { checkpointer })
}

const lines = [
  ...['user: First', 'assistant: work({"n":1})', 'tool: worked 1'],
  ...['assistant: work({"n":2})', 'tool: worked 2', 'assistant: Two.'],
  ...['user: Second', 'assistant: work({"n":3})', 'tool: worked 3', 'assistant: Three.'],
]

async function expectPairs(
  served: ServedAgents,
  client: { messages: Awaited<ReturnType<typeof historyOf>> },
) {
  const history = await historyOf(served)
  expect(history).toMatchObject(client.messages)
  const calls = history.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []))
  expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length)
  const results = history.flatMap((one) => (one.role === 'tool' ? [one.toolCallId] : []))
  expect(results).toEqual(calls.map(({ id }) => id))
}

describe.each(['with', 'without'])('%s a checkpointer', (checkpoints) => {
  const saver = () => (checkpoints === 'with' ? new MemorySaver() : undefined)

  it('calls of a node that reads the stream of its model itself', async () => {
    const model = new FakeModel([call(1), call(2), ['Two.'], call(3), ['Three.'], ['Bye.']])
    const graph = loop(streaming(model), saver())
    const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'g' })] })
    const talk = served.talk()
    await talk.say('First')
    await talk.say('Second')
    expect(linesOf(talk.client.messages)).toEqual(lines)
    await expectPairs(served, talk.client)
    await talk.say('Bye')
    const asked = lines.map((line) => line.replace('user', 'human').replace('assistant', 'ai'))
    expect(promptText(model.calls.at(-1))).toEqual([...asked, 'human: Bye'])
    expect(served.logged.filter((line) => line.startsWith('warn'))).toEqual([])
  })

  it('calls that a node makes without a model', async () => {
    const graph = loop(scripted([1, 2, 'Two.', 3, 'Three.', 'Bye.']), saver())
    const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'g' })] })
    const talk = served.talk()
    await talk.say('First')
    await talk.say('Second')
    expect(linesOf(talk.client.messages)).toEqual(lines)
    await expectPairs(served, talk.client)
    await talk.say('Bye')
    expect(linesOf(await historyOf(served)).slice(0, lines.length)).toEqual(lines)
  })
})

it('a thread that only the checkpointer knows has each result with its call', async () => {
  const checkpointer = new MemorySaver()
  const graph = loop(scripted([1, 2, 'Two.', 3, 'Three.', 'Bye.']), checkpointer)
  const config = { configurable: { thread_id: 'thread-1' } }
  await graph.invoke({ messages: ['First'] }, config)
  await graph.invoke({ messages: ['Second'] }, config)
  const agent = fromLangGraph(graph, { name: 'g', threadId: ({ threadId }) => threadId })
  const served = await serveAgents({ agents: [agent] })
  const talk = served.talk()
  await talk.say('Bye')
  const all = [...lines, 'user: Bye', 'assistant: Bye.']
  expect(linesOf(await historyOf(served))).toEqual(all)
  expect(linesOf(talk.client.messages)).toEqual(all)
  await expectPairs(served, talk.client)
})

it('models of subgraphs that run at the same time', async () => {
  const inner = (n: number) => {
    const model = new FakeModel([call(n), [`Done ${n}.`]])
    return new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode('tools', new ToolNode([work]))
      .addEdge(START, 'agent')
      .addConditionalEdges('agent', hasCalls)
      .addEdge('tools', 'agent')
      .compile()
  }
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('left', inner(1))
    .addNode('right', inner(2))
    .addEdge(START, 'left')
    .addEdge(START, 'right')
    .compile({ checkpointer: new MemorySaver() })
  const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'g' })] })
  const events = await served.talk().say('Go')
  const starts = ofType(events, 'TOOL_CALL_START')
  expect(starts).toHaveLength(2)
  for (const { toolCallId, subagentRunId } of starts) {
    const [args] = ofType(events, 'TOOL_CALL_ARGS').filter((one) => one.toolCallId === toolCallId)
    const [result] = ofType(events, 'TOOL_CALL_RESULT').filter((one) => one.toolCallId === toolCallId)
    expect(result?.subagentRunId).toBe(subagentRunId)
    expect(args?.subagentRunId).toBe(subagentRunId)
  }
  expect(
    ofType(events, 'TOOL_CALL_RESULT')
      .map(({ content }) => content)
      .sort(),
  ).toEqual([...['worked 1', 'worked 2']])
  expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' } })
})

it('a model that passes on the message of another shows text and calls once', async () => {
  /** Not in LangChain's tree of runs: to callbacks, both models belong to the node. */
  class Wrapper extends BaseChatModel {
    override _llmType() {
      return 'wrapper'
    }
    override async _generate(messages: BaseMessage[]) {
      const message = await inner.invoke(messages)
      return { generations: [{ text: message.text, message }] }
    }
  }
  const counts = { input_tokens: 4, output_tokens: 2, total_tokens: 6 }
  const used = { content: '', usage_metadata: counts as never }
  const inner = new FakeModel([['I work.', ...call(1)], ['One.'], call(2), ['Two.', used]])
  const model = new Wrapper({})
  const graph = loop(
    async ({ messages }) => ({ messages: [await model.invoke(messages)] }),
    new MemorySaver(),
  )
  const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'g' })] })
  const talk = served.talk()
  await talk.say('First')
  const events = await talk.say('Second')
  expect(linesOf(talk.client.messages)).toEqual([
    ...['user: First', 'assistant: I work. work({"n":1})', 'tool: worked 1', 'assistant: One.'],
    ...['user: Second', 'assistant: work({"n":2})', 'tool: worked 2', 'assistant: Two.'],
  ])
  await expectPairs(served, talk.client)
  expect(events.at(-1)).toMatchObject({ usage: [{ totalTokens: 6 }] })
  expect(served.logged.filter((line) => line.startsWith('warn'))).toEqual([])
})

describe('client tools', () => {
  const pick = clientTool('pick')
  const steps = () => [call(1, 'pick'), ['One.'], call(2, 'pick'), ['Two.'], ['Bye.']]

  const waiting = (agent: (state: State, config: object) => unknown) => (checkpointer: BaseCheckpointSaver) =>
    new StateGraph(MessagesAnnotation)
      .addNode('agent', agent as () => Partial<State>)
      .addNode('tools', async ({ messages }: State, config) => {
        const [made] = (messages.at(-1) as AIMessage).tool_calls ?? []
        const [picker] = getClientTools(config)
        return { messages: [(await picker?.invoke({ ...made, type: 'tool_call' } as never)) as BaseMessage] }
      })
      .addEdge(START, 'agent')
      .addConditionalEdges('agent', hasCalls)
      .addEdge('tools', 'agent')
      .compile({ checkpointer })

  const ending = (agent: (state: State) => unknown) => (checkpointer: BaseCheckpointSaver) =>
    new StateGraph(MessagesAnnotation)
      .addNode('agent', agent as () => Partial<State>)
      .addEdge(START, 'agent')
      .compile({ checkpointer })

  const created = (keepPosition: boolean) => (model: FakeModel) => (checkpointer: BaseCheckpointSaver) =>
    createAgent({ model, tools: [], checkpointer, middleware: [clientTools({ keepPosition })] }).graph

  const invoking =
    (model: FakeModel) =>
    async ({ messages }: State) => ({
      messages: [await model.invoke(messages)],
    })

  it.each([
    ['createAgent ends', created(false)],
    ['createAgent waits', created(true)],
    ['a graph ends', (model: FakeModel) => ending(invoking(model))],
    ['a graph waits', (model: FakeModel) => waiting(invoking(model))],
    ['a graph that reads the stream ends', (model: FakeModel) => ending(streaming(model))],
    ['a graph that reads the stream waits', (model: FakeModel) => waiting(streaming(model))],
  ])('each result reaches its call, also after a restart: %s', async (_, make) => {
    for (const store of ['memory', 'sqlite'] as const) {
      const model = agentModel(steps())
      let served: ServedAgents = await serveGraph({
        ...{ make: (saver) => fromLangGraph(make(model)(saver) as never, { name: 'g' }) },
        ...{ checkpoints: 'sqlite', store },
      })
      let talk = served.talk()
      for (const answer of ['picked 1', 'picked 2']) {
        const end = (await talk.say('Pick', { tools: [pick] })).at(-1)
        const outcome = end?.type === 'RUN_FINISHED' ? end.outcome : undefined
        const [pending = ''] =
          (outcome as { pendingToolCallIds?: string[] } | undefined)?.pendingToolCallIds ?? []
        const { messages } = talk.client
        served = await served.restart()
        talk = served.talk()
        talk.client.setMessages(messages)
        await talk.answer({ [pending]: answer }, { tools: [pick] })
      }
      const all = [
        ...['user: Pick', 'assistant: pick({"n":1})', 'tool: picked 1', 'assistant: One.'],
        ...['user: Pick', 'assistant: pick({"n":2})', 'tool: picked 2', 'assistant: Two.'],
      ]
      expect(linesOf(await historyOf(served))).toEqual(all)
      await talk.say('Bye', { tools: [pick] })
      const asked = all.map((line) => line.replace('user', 'human').replace('assistant', 'ai'))
      expect(promptText(model.calls.at(-1))).toEqual([...asked, 'human: Bye'])
    }
  })
})

describe('approvals', () => {
  it('of humanInTheLoopMiddleware name the call that they are about', async () => {
    const model = agentModel([call(1), ['One.'], call(2), ['Two.']])
    const review = humanInTheLoopMiddleware({ interruptOn: { work: true } } as never)
    const { graph } = createAgent({
      ...{ model, tools: [work], checkpointer: new MemorySaver() },
      middleware: [review as AgentMiddleware],
    })
    const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'g' })] })
    const talk = served.talk()
    for (const n of [1, 2]) {
      const events = await talk.say('Go')
      const [asked] = interruptsIn(events)
      expect(asked?.toolCallId).toBe(ofType(events, 'TOOL_CALL_START')[0]?.toolCallId)
      const resume = [
        { interruptId: asked?.id ?? '', status: 'resolved' as const, payload: { type: 'approve' } },
      ]
      await talk.send({ resume })
      expect(linesOf(talk.client.messages).at(-2)).toBe(`tool: worked ${n}`)
    }
    await expectPairs(served, talk.client)
  })

  it('of a node that asks about a call of its own model', async () => {
    const model = new FakeModel([call(1), ['One.'], call(2), ['Two.']])
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', streaming(model))
      .addNode('ask', ({ messages }) => {
        const [made] = (messages.at(-1) as AIMessage).tool_calls ?? []
        interrupt({ message: 'Go?', toolCallId: made?.id })
        return {}
      })
      .addNode('tools', runTools)
      .addEdge(START, 'agent')
      .addConditionalEdges('agent', (state) => (hasCalls(state) === END ? END : 'ask'))
      .addEdge('ask', 'tools')
      .addEdge('tools', 'agent')
      .compile({ checkpointer: new MemorySaver() })
    const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'g' })] })
    const talk = served.talk()
    for (const n of [1, 2]) {
      const events = await talk.say('Go')
      const [asked] = interruptsIn(events)
      expect(asked?.toolCallId).toBe(ofType(events, 'TOOL_CALL_START')[0]?.toolCallId)
      await talk.send({ resume: [{ interruptId: asked?.id ?? '', status: 'resolved', payload: {} }] })
      expect(linesOf(talk.client.messages).at(-2)).toBe(`tool: worked ${n}`)
    }
    await expectPairs(served, talk.client)
  })
})
