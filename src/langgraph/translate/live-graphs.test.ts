import { AIMessage, HumanMessage, type BaseMessage } from '@langchain/core/messages'
import { dispatchCustomEvent } from '@langchain/core/callbacks/dispatch'
import { tool } from '@langchain/core/tools'
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { createAgent } from 'langchain'
import { describe, expect, test } from 'vitest'
import { rejectedIn } from '../../../test/support/run-agent.js'
import { z } from 'zod'
import { brief } from '../../../test/support/brief.js'
import { callChunks, FakeModel, type ModelStep } from '../../../test/support/langgraph/fake-model.js'
import {
  startTranslation,
  type Translated,
  type TranslateOptions,
} from '../../../test/support/langgraph/translate-events.js'
import type { StreamableGraph } from '../contract.js'
import { GraphStream } from '../source/graph-stream.js'

interface Live extends Translated {
  readonly error: unknown
  /** The messages of the graph's last state. */
  readonly kept: readonly BaseMessage[]
}

/** Runs a graph and translates its native events as they come. */
async function live(
  graph: StreamableGraph,
  input: unknown,
  { config = {}, ...options }: TranslateOptions & { readonly config?: Record<string, unknown> } = {},
): Promise<Live> {
  const translation = startTranslation(options)
  const { signal } = new AbortController()
  const report = (problem: string): never => expect.unreachable(problem)
  let error: unknown
  let kept: readonly BaseMessage[] = []
  try {
    for await (const event of new GraphStream(graph, { input, config, signal, report })) {
      translation.take(event)
      if (event.type === 'values') kept = (event.values.messages ?? kept) as BaseMessage[]
    }
  } catch (thrown) {
    error = thrown
  }
  return { ...translation.end(), error, kept }
}

const asked = { messages: [new HumanMessage({ id: 'h1', content: 'Hi' })] }

const search = tool(({ q }: { q: string }) => `found ${q}`, {
  name: 'search',
  description: 'Searches.',
  schema: z.object({ q: z.string() }),
})

/** A model for `createAgent`, which takes a member named `tools` for tools that were bound already. */
function agentModel(steps: readonly ModelStep[]): FakeModel {
  return new FakeModel(steps)
}

/** A model with tools and the node that runs them, the classic loop. */
function loop(steps: readonly ModelStep[]) {
  const model = new FakeModel(steps)
  return new StateGraph(MessagesAnnotation)
    .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('tools', new ToolNode([search]))
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', ({ messages }) =>
      ((messages.at(-1) as AIMessage).tool_calls?.length ?? 0) > 0 ? 'tools' : END,
    )
    .addEdge('tools', 'agent')
    .compile()
}

/** The ids of the assistant messages. */
const idsOf = (messages: readonly object[]) =>
  messages.flatMap((message) => {
    const { id, role, type } = message as { id: string; role?: string; type?: string }
    return role === 'assistant' || type === 'ai' ? [id] : []
  })

const texts = ({ messages }: Live) => messages.map(({ content = '' }) => content)

describe('a graph with a model and tools', () => {
  const steps: readonly ModelStep[] = [
    [
      'Let me ',
      'see',
      ...callChunks('c1', 'search', { q: 'a' }, 0),
      ...callChunks('c2', 'search', { q: 'b' }, 1),
    ],
    ['Here ', 'it is'],
  ]

  test('gives clients the messages of its state, under the same ids', async () => {
    const run = await live(loop(steps), asked)
    expect(run.messages).toMatchObject([
      {
        content: 'Let me see',
        toolCalls: [
          { id: 'c1', function: { arguments: '{"q":"a"}' } },
          { id: 'c2', function: { arguments: '{"q":"b"}' } },
        ],
      },
      { id: 'c1:result', content: 'found a' },
      { id: 'c2:result', content: 'found b' },
      { content: 'Here it is' },
    ])
    expect(run.problems).toEqual([])
    expect(idsOf(run.messages)).toEqual(idsOf(run.kept))
    expect(run.stream.filter(({ type }) => type.startsWith('STEP')).map(brief)).toEqual([
      'STEP_STARTED agent',
      'STEP_FINISHED agent',
      'STEP_STARTED tools',
      'STEP_FINISHED tools',
      'STEP_STARTED agent',
      'STEP_FINISHED agent',
    ])
  })

  test('tells what became of calls to tools that are not there, and of wrong arguments', async () => {
    const run = await live(
      loop([[...callChunks('c1', 'nothing', {}, 0), ...callChunks('c2', 'search', { q: 1 }, 1)], ['Sorry']]),
      asked,
    )
    expect(run.messages).toMatchObject([
      { toolCalls: [{ id: 'c1' }, { id: 'c2' }] },
      { toolCallId: 'c1', metadata: { millrace: { isError: true } } },
      { toolCallId: 'c2', metadata: { millrace: { isError: true } } },
      { content: 'Sorry' },
    ])
  })

  test('leaves calls of the client open', async () => {
    const model = new FakeModel([callChunks('c1', 'pick', { q: 'a' })])
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, 'agent')
      .compile()
    const { translator } = await live(graph, asked, { isClientTool: (name) => name === 'pick' })
    expect(translator.pendingCallIds).toEqual(['c1'])
  })

  test('rejects the message of a failed model when it is called again', async () => {
    const model = new FakeModel([['Half', new Error('broken')], ['Whole']])
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', async () => ({ messages: [await model.invoke('x')] }), {
        retryPolicy: { initialInterval: 1, jitter: false, logWarning: false },
      })
      .addEdge(START, 'agent')
      .compile()
    const run = await live(graph, asked)
    expect(rejectedIn(run.stream)).toMatchObject([
      { content: 'Half', metadata: { millrace: { rejected: 'error' } } },
    ])
    expect(run.messages).toMatchObject([{ content: 'Whole' }])
    expect(run.problems).toEqual([])
  })

  test('closes what is open when it fails', async () => {
    const run = await live(loop([['Half', new Error('broken')]]), asked)
    expect(run.error).toMatchObject({ message: 'broken' })
    expect(run.messages).toEqual([expect.not.objectContaining({ metadata: expect.anything() as unknown })])
  })
})

describe('parallel nodes', () => {
  test('that speak at the same time keep their messages apart', async () => {
    const speak = (word: string) => {
      const model = new FakeModel([Array.from({ length: 20 }, (_, n) => `${word}${n} `)], async () => {
        await new Promise(setImmediate)
      })
      return async () => ({ messages: [await model.invoke('x')] })
    }
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('a', speak('a'))
      .addNode('b', speak('b'))
      .addEdge(START, 'a')
      .addEdge(START, 'b')
      .compile()
    const run = await live(graph, asked)
    const said = (word: string) => Array.from({ length: 20 }, (_, n) => `${word}${n} `).join('')
    expect(texts(run).sort()).toEqual([said('a'), said('b')])
  })

  test('of one name are steps of their own', async () => {
    const State = Annotation.Root({
      log: Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
    })
    const graph = new StateGraph(State)
      .addNode('w', ({ log }) => ({ log }))
      .addConditionalEdges(START, () => ['1', '2', '3'].map((n) => new Send('w', { log: [n] })))
      .compile()
    const run = await live(graph, { log: [] })
    const started = run.stream.filter(({ type }) => type === 'STEP_STARTED').map(brief)
    expect(started).toEqual(['STEP_STARTED w', 'STEP_STARTED w#2', 'STEP_STARTED w#3'])
    expect(run.state).toEqual({ log: ['1', '2', '3'] })
    expect(run.problems).toEqual([])
  })
})

describe('messages made by hand', () => {
  test('are shown once, with the ids that the graph gives them, before the tools they call', async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('plan', () => ({
        messages: [
          new AIMessage({ content: 'Look', tool_calls: [{ id: 'c1', name: 'search', args: { q: 'a' } }] }),
        ],
      }))
      .addNode('tools', new ToolNode([search]))
      .addNode('end', () => ({ messages: [{ role: 'assistant', content: 'Plain' }, new AIMessage('Two')] }))
      .addEdge(START, 'plan')
      .addEdge('plan', 'tools')
      .addEdge('tools', 'end')
      .compile()
    const run = await live(graph, {
      messages: [...asked.messages, new AIMessage({ id: 'old', content: 'Old' })],
    })
    expect(texts(run)).toEqual(['Look', 'found a', 'Plain', 'Two'])
    expect(['old', ...idsOf(run.messages)]).toEqual(idsOf(run.kept))
    expect(run.messages[0]).toMatchObject({ toolCalls: [{ id: 'c1' }] })
    expect(run.problems).toEqual([])
  })
})

describe('nested graphs', () => {
  const inner = (steps: readonly ModelStep[]) =>
    createAgent({ model: agentModel(steps), tools: [], name: 'Researcher' })

  test('in tools are subagents of the call', async () => {
    const ask = tool(
      async ({ q }: { q: string }) => {
        const { messages } = await inner([['Sub ', 'answer']]).invoke({ messages: [new HumanMessage(q)] })
        return messages.at(-1)?.text ?? ''
      },
      { name: 'ask', description: 'Asks.', schema: z.object({ q: z.string() }) },
    )
    const model = new FakeModel([callChunks('c1', 'ask', { q: 'x' }), ['Done']])
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode('tools', new ToolNode([ask]))
      .addEdge(START, 'agent')
      .addConditionalEdges('agent', ({ messages }) =>
        ((messages.at(-1) as AIMessage).tool_calls?.length ?? 0) > 0 ? 'tools' : END,
      )
      .addEdge('tools', 'agent')
      .compile()
    const run = await live(graph, asked)
    const started = run.stream.find(({ type }) => type === 'SUBAGENT_STARTED')
    expect(started).toMatchObject({ name: 'Researcher', parentToolCallId: 'c1' })
    const subagentRunId = (started as { subagentRunId: string }).subagentRunId
    expect(run.messages).toMatchObject([
      { toolCalls: [{ id: 'c1' }] },
      { toolCallId: 'c1', content: 'Sub answer' },
      { content: 'Sub answer', subagentRunId },
      { content: 'Done' },
    ])
    expect(run.messages[3]).not.toHaveProperty('subagentRunId')
    expect(run.problems).toEqual([])
  })

  test('as nodes are subagents, whose messages are not shown again by the graph around', async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('team', inner([['Hello']]).graph)
      .addEdge(START, 'team')
      .compile()
    const run = await live(graph, asked)
    expect(texts(run)).toEqual(['Hello'])
    expect(run.messages[0]).toHaveProperty('subagentRunId')
    expect(run.problems).toEqual([])
  })

  test('that hand over to the graph around have not failed', async () => {
    const sub = new StateGraph(MessagesAnnotation)
      .addNode('i', () => new Command({ goto: 'z', graph: Command.PARENT }), { ends: [] })
      .addEdge(START, 'i')
      .compile()
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('s', sub, { ends: ['z'] })
      .addNode('z', () => ({ messages: [new AIMessage('From z')] }))
      .addEdge(START, 's')
      .compile()
    const run = await live(graph, asked)
    expect(run.error).toBeUndefined()
    expect(run.stream.map(({ type }) => type)).not.toContain('SUBAGENT_ERROR')
    expect(texts(run)).toEqual(['From z'])
  })

  test('with an interrupt are suspended, and resume when it is answered', async () => {
    const sub = new StateGraph(MessagesAnnotation)
      .addNode('ask', () => ({ messages: [new AIMessage(`You said ${String(interrupt('Really?'))}`)] }))
      .addEdge(START, 'ask')
      .compile({ name: 'Asker' })
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('sub', sub)
      .addEdge(START, 'sub')
      .compile({ checkpointer: new MemorySaver() })
    const config = { configurable: { thread_id: 't' } }
    const interrupts = [{ id: 'i', reason: 'r' }]
    const first = await live(graph, asked, { config, end: { type: 'interrupt', interrupts } })
    expect(first.error).toBeUndefined()
    expect(first.stream.find(({ type }) => type === 'SUBAGENT_FINISHED')).toMatchObject({
      outcome: { type: 'suspended' },
    })
    const started = first.stream.find(({ type }) => type === 'SUBAGENT_STARTED') as { subagentRunId: string }
    const { tasks } = await graph.getState(config)
    const id = tasks[0]?.interrupts[0]?.id ?? ''
    expect(first.translator.interruptOrigin(id)).toEqual({
      subagentRunId: started.subagentRunId,
      toolCallId: undefined,
    })
    const second = await live(graph, new Command({ resume: { [id]: 'yes' } }), { config })
    expect(texts(second)).toEqual(['You said yes'])
    expect(second.problems).toEqual([])
  })
})

test('an agent of langchain gives its messages, calls and results', async () => {
  const model = agentModel([[...callChunks('c1', 'search', { q: 'a' })], ['Done']])
  const run = await live(createAgent({ model, tools: [search], name: 'Boss' }) as never, asked)
  expect(run.messages).toMatchObject([
    { toolCalls: [{ id: 'c1' }] },
    { toolCallId: 'c1', content: 'found a' },
    { content: 'Done' },
  ])
  expect(run.problems).toEqual([])
})

test('hidden models, custom events and state are translated', async () => {
  const model = new FakeModel([['secret']])
  const State = Annotation.Root({
    ...MessagesAnnotation.spec,
    topic: Annotation<string>,
    key: Annotation<string>,
  })
  const graph = new StateGraph(State)
    .addNode('route', async (_state, config) => {
      await model.invoke('x', { tags: ['nostream'] })
      await dispatchCustomEvent('chart', { bars: 2 })
      config.writer({ name: 'progress', payload: 0.5 })
      return { topic: 'sports', key: 'k' }
    })
    .addEdge(START, 'route')
    .compile()
  const run = await live(graph, asked, { isPrivate: (key) => key === 'key' })
  expect(run.messages).toEqual([])
  expect(run.state).toEqual({ topic: 'sports' })
  expect(run.stream.filter(({ type }) => type === 'CUSTOM')).toMatchObject([
    { name: 'chart', value: { bars: 2 } },
    { name: 'progress' },
  ])
})
