import { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import { dispatchCustomEvent } from '@langchain/core/callbacks/dispatch'
import { CallbackManager } from '@langchain/core/callbacks/manager'
import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { RunnableLambda } from '@langchain/core/runnables'
import { DynamicTool, tool, Tool } from '@langchain/core/tools'
import { FakeStreamingLLM } from '@langchain/core/utils/testing'
import {
  Annotation,
  Command,
  END,
  entrypoint,
  getWriter,
  GraphRecursionError,
  interrupt,
  type LangGraphRunnableConfig,
  MemorySaver,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph'
import { InMemoryCache } from '@langchain/langgraph-checkpoint'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { createAgent } from 'langchain'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { callChunks, FakeModel, type ModelStep } from '../../../test/support/langgraph/fake-model.js'
import { manualClock } from '../../core/clock.js'
import type { GraphEvent, StreamableGraph } from '../contract.js'
import { GraphCallbackHandler } from './callback-handler.js'
import { createChunkReader, GraphStream, type GraphStreamOptions } from './graph-stream.js'

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
})

const appends = (word: string) => () => ({ log: [word] })

async function record(
  graph: StreamableGraph,
  input: unknown,
  options: Partial<GraphStreamOptions> = {},
): Promise<GraphEvent[]> {
  const events: GraphEvent[] = []
  const report = (problem: string): never => expect.unreachable(problem)
  const { signal } = new AbortController()
  for await (const event of new GraphStream(graph, { input, config: {}, signal, report, ...options }))
    events.push(event)
  return events
}

/** Events in short, `node-start team/plan`, with the names of the runs around. `values` lag, so they are left out. */
function outline(events: readonly GraphEvent[]): string[] {
  const names = new Map<string, string>()
  const called = (id: string | undefined): string => (id === undefined ? '' : (names.get(id) ?? `?${id}`))
  return events.flatMap((event): string[] => {
    if (event.type === 'values') return []
    if ('parentRunId' in event) {
      const own = 'node' in event ? event.node : 'name' in event ? event.name : 'model'
      const around = called(event.parentRunId)
      names.set(event.runId, around === '' ? own : `${around}/${own}`)
    }
    if (event.type === 'custom') return [`custom ${event.name} in ${called(event.runId)}`]
    if (event.type === 'model-chunk') return [`chunk ${called(event.runId)}: ${event.message.text}`]
    if (!('runId' in event)) return [event.type]
    return [`${event.type} ${called(event.runId)}`]
  })
}

const lastValues = (events: readonly GraphEvent[]) =>
  events.findLast((event) => event.type === 'values')?.values

/** A model for `createAgent`, which takes a member named `tools` for tools that were bound already. */
function agentModel(steps: readonly ModelStep[]): FakeModel {
  return new FakeModel(steps)
}

const loggingGraph = (word: string, name?: string) =>
  new StateGraph(Log)
    .addNode('inner', appends(word))
    .addEdge(START, 'inner')
    .compile(name === undefined ? {} : { name })

describe('nodes', () => {
  test('start and end in order, and the state is the one invoke gives', async () => {
    const graph = new StateGraph(Log)
      .addNode('plan', appends('plan'))
      .addNode('act', appends('act'))
      .addEdge(START, 'plan')
      .addEdge('plan', 'act')
      .compile()
    const events = await record(graph, { log: ['in'] })
    expect(outline(events)).toEqual(['node-start plan', 'node-end plan', 'node-start act', 'node-end act'])
    expect(events.filter(({ type }) => type === 'values')).toEqual([
      { type: 'values', values: { log: ['in'] } },
      { type: 'values', values: { log: ['in', 'plan'] } },
      { type: 'values', values: { log: ['in', 'plan', 'act'] } },
    ])
    expect(lastValues(events)).toEqual(await graph.invoke({ log: ['in'] }))
  })

  test('give what they return', async () => {
    const graph = new StateGraph(Log).addNode('a', appends('a')).addEdge(START, 'a').compile()
    expect(await record(graph, { log: [] })).toContainEqual(
      expect.objectContaining({ type: 'node-end', output: { log: ['a'] } }),
    )
  })

  test('that run side by side each have a run of their own', async () => {
    const graph = new StateGraph(Log)
      .addNode('plan', appends('plan'))
      .addNode('work', (state: unknown) => ({ log: [(state as { word: string }).word] }))
      .addEdge(START, 'plan')
      .addConditionalEdges('plan', () => [new Send('work', { word: 'x' }), new Send('work', { word: 'y' })])
      .compile()
    const events = await record(graph, { log: [] })
    expect(outline(events)).toEqual([
      'node-start plan',
      'node-end plan',
      'node-start work',
      'node-start work',
      'node-end work',
      'node-end work',
    ])
    const started = events.flatMap((event) => (event.type === 'node-start' ? [event.runId] : []))
    expect(new Set(started).size).toBe(3)
    expect(lastValues(events)).toEqual({ log: ['plan', 'x', 'y'] })
  })

  test('that fail are tried again as a run of their own', async () => {
    let tries = 0
    const retryPolicy = { initialInterval: 1, jitter: false, logWarning: false }
    const graph = new StateGraph(Log)
      .addNode(
        'shaky',
        () => {
          if (tries++ === 0) throw new Error('not yet')
          return { log: ['done'] }
        },
        { retryPolicy },
      )
      .addEdge(START, 'shaky')
      .compile()
    const events = await record(graph, { log: [] })
    expect(outline(events)).toEqual([
      'node-start shaky',
      'node-error shaky',
      'node-start shaky',
      'node-end shaky',
    ])
    expect(events.find(({ type }) => type === 'node-error')).toMatchObject({
      error: new Error('not yet'),
      isInterrupt: false,
    })
  })

  test('go where a command sends them', async () => {
    const graph = new StateGraph(Log)
      .addNode('a', () => new Command({ goto: 'c', update: { log: ['a'] } }), { ends: ['b', 'c'] })
      .addNode('b', appends('b'))
      .addNode('c', appends('c'))
      .addEdge(START, 'a')
      .compile()
    const events = await record(graph, { log: [] })
    expect(outline(events)).toEqual(['node-start a', 'node-end a', 'node-start c', 'node-end c'])
    expect(lastValues(events)).toEqual({ log: ['a', 'c'] })
  })

  test('whose result was kept do not start', async () => {
    let runs = 0
    const graph = new StateGraph(Log)
      .addNode('costly', () => ({ log: [String(runs++)] }), { cachePolicy: true })
      .addEdge(START, 'costly')
      .compile({ cache: new InMemoryCache() })
    await record(graph, { log: [] })
    const events = await record(graph, { log: [] })
    expect(outline(events)).toEqual([])
    expect(lastValues(events)).toEqual({ log: ['0'] })
  })

  test('of functions are tasks, and a value that is no state is unknown', async () => {
    const double = task('double', (value: number) => value * 2)
    const graph = entrypoint('work', async (value: number) => (await double(value)) + 1)
    const events = await record(graph, 3)
    expect(outline(events)).toEqual([
      'node-start work',
      'node-start double',
      'node-end double',
      'node-end work',
      'unknown',
    ])
    expect(events.at(-1)).toEqual({ type: 'unknown', name: 'stream:values' })
  })
})

describe('nested graphs', () => {
  test('that are a node end before it', async () => {
    const graph = new StateGraph(Log)
      .addNode('team', loggingGraph('x', 'Team'))
      .addEdge(START, 'team')
      .compile()
    const events = await record(graph, { log: [] })
    expect(outline(events)).toEqual([
      'node-start team',
      'graph-start team/Team',
      'node-start team/Team/inner',
      'node-end team/Team/inner',
      'graph-end team/Team',
      'node-end team',
    ])
    expect(events).toContainEqual(expect.objectContaining({ type: 'graph-start', isNode: true }))
  })

  test('without a name of their own have that of their node', async () => {
    const graph = new StateGraph(Log).addNode('team', loggingGraph('x')).addEdge(START, 'team').compile()
    expect(await record(graph, { log: [] })).toContainEqual(
      expect.objectContaining({ type: 'graph-start', name: 'team', isNode: true }),
    )
  })

  test('that a node calls are not the node', async () => {
    const team = loggingGraph('x', 'Team')
    const graph = new StateGraph(Log)
      .addNode('lead', async () => team.invoke({ log: ['asked'] }))
      .addEdge(START, 'lead')
      .compile()
    const events = await record(graph, { log: [] })
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'graph-start', name: 'Team', isNode: false }),
    )
    expect(lastValues(events)).toEqual({ log: ['asked', 'x'] })
  })

  test('that are started side by side are kept apart', async () => {
    const graph = new StateGraph(Log)
      .addNode('plan', appends('plan'))
      .addNode('team', loggingGraph('x', 'Team'))
      .addEdge(START, 'plan')
      .addConditionalEdges('plan', () => [new Send('team', { log: ['1'] }), new Send('team', { log: ['2'] })])
      .compile()
    const starts = (await record(graph, { log: [] })).filter((event) => event.type === 'graph-start')
    expect(starts.map(({ isNode }) => isNode)).toEqual([true, true])
    expect(new Set(starts.map(({ runId }) => runId)).size).toBe(2)
    expect(new Set(starts.map(({ parentRunId }) => parentRunId)).size).toBe(2)
  })

  test('show the state of the outer one only', async () => {
    const graph = new StateGraph(Log).addNode('team', loggingGraph('x')).addEdge(START, 'team').compile()
    const states = (await record(graph, { log: ['in'] })).filter(({ type }) => type === 'values')
    expect(states).toEqual([
      { type: 'values', values: { log: ['in'] } },
      { type: 'values', values: { log: ['in', 'in', 'x'] } },
    ])
  })

  test('that hand over to the graph around them end, and do not fail', async () => {
    const inner = new StateGraph(Log)
      .addNode('leave', () => new Command({ graph: Command.PARENT, goto: 'next', update: { log: ['left'] } }))
      .addEdge(START, 'leave')
      .compile()
    const graph = new StateGraph(Log)
      .addNode('team', inner, { ends: ['next'] })
      .addNode('next', appends('next'))
      .addEdge(START, 'team')
      .compile()
    const events = await record(graph, { log: [] })
    expect(outline(events)).toEqual([
      'node-start team',
      'graph-start team/team',
      'node-start team/team/leave',
      'node-end team/team/leave',
      'graph-end team/team',
      'node-end team',
      'node-start next',
      'node-end next',
    ])
    const left = events.find((event) => event.type === 'node-end')
    expect(left?.output).toMatchObject({ update: { log: ['left'] } })
    expect(lastValues(events)).toEqual({ log: ['left', 'next'] })
  })
})

describe('models', () => {
  const chat = (model: FakeModel) =>
    new StateGraph(MessagesAnnotation)
      .addNode('talk', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, 'talk')
      .compile()

  test('stream, although the node only invokes them', async () => {
    const events = await record(chat(new FakeModel([['Good ', 'day']])), {
      messages: [new HumanMessage('Hi')],
    })
    expect(outline(events)).toEqual([
      'node-start talk',
      'model-start talk/model',
      'chunk talk/model: Good ',
      'chunk talk/model: day',
      'model-end talk/model',
      'node-end talk',
    ])
    const end = events.find((event) => event.type === 'model-end')
    expect(end?.message?.text).toBe('Good day')
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'model-start',
        provider: 'FakeModel',
        model: undefined,
        isHidden: false,
      }),
    )
  })

  test('inside of other runs are part of the node', async () => {
    const chain = RunnableLambda.from((text: string) => text).pipe(new FakeModel([['Yes']]))
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('talk', async () => ({ messages: [await chain.invoke('Hi')] }))
      .addEdge(START, 'talk')
      .compile()
    expect(outline(await record(graph, { messages: [] }))).toContain('model-start talk/model')
  })

  test.each(['nostream', 'langsmith:nostream'])('are hidden with the tag %s', async (tag) => {
    const model = new FakeModel([['secret']]).withConfig({ tags: [tag] })
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('talk', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, 'talk')
      .compile()
    expect(await record(graph, { messages: [new HumanMessage('Hi')] })).toContainEqual(
      expect.objectContaining({ type: 'model-start', isHidden: true }),
    )
  })

  test('that fail end with an error, and so does the run', async () => {
    const events: GraphEvent[] = []
    const failure = new Error('overloaded')
    const graph = chat(new FakeModel([['Good ', failure]]))
    const report = (problem: string): never => expect.unreachable(problem)
    const { signal } = new AbortController()
    const reading = (async () => {
      const input = { messages: [new HumanMessage('Hi')] }
      for await (const event of new GraphStream(graph, { input, config: {}, signal, report }))
        events.push(event)
    })()
    await expect(reading).rejects.toBe(failure)
    expect(outline(events)).toEqual([
      'node-start talk',
      'model-start talk/model',
      'chunk talk/model: Good ',
      'model-error talk/model',
      'node-error talk',
    ])
  })

  test('that know only text stream it', async () => {
    const model = new FakeStreamingLLM({ responses: ['ok'] })
    const graph = new StateGraph(Log)
      .addNode('write', async () => {
        for await (const piece of await model.stream('Hi')) expect(piece).toHaveLength(1)
        return { log: [] }
      })
      .addEdge(START, 'write')
      .compile()
    const events = await record(graph, { log: [] })
    expect(outline(events)).toEqual([
      'node-start write',
      'model-start write/model',
      'chunk write/model: o',
      'chunk write/model: k',
      'model-end write/model',
      'node-end write',
    ])
    expect(events.find((event) => event.type === 'model-end')?.message?.text).toBe('ok')
  })

  test('that cannot stream give their answer at the end', async () => {
    class Silent extends FakeModel {
      override disableStreaming = true
      override _generate(...[messages, options]: Parameters<FakeModel['_generate']>) {
        return super._generate(messages, options)
      }
    }
    const graph = chat(new Silent([['All ', 'at once']]))
    const events = await record(graph, { messages: [new HumanMessage('Hi')] })
    expect(outline(events)).toEqual([
      'node-start talk',
      'model-start talk/model',
      'model-end talk/model',
      'node-end talk',
    ])
    expect(events.find((event) => event.type === 'model-end')?.message?.text).toBe('All at once')
  })

  test('that stream at the same time are kept apart', async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('a', async () => ({ messages: [await new FakeModel([['a1', 'a2']]).invoke('Hi')] }))
      .addNode('b', async () => ({ messages: [await new FakeModel([['b1', 'b2']]).invoke('Hi')] }))
      .addEdge(START, 'a')
      .addEdge(START, 'b')
      .compile()
    const lines = outline(await record(graph, { messages: [] }))
    for (const node of ['a', 'b'])
      expect(lines.filter((line) => line.startsWith(`chunk ${node}/`))).toEqual([
        `chunk ${node}/model: ${node}1`,
        `chunk ${node}/model: ${node}2`,
      ])
    expect(lines.indexOf('chunk b/model: b1')).toBeLessThan(lines.indexOf('model-end a/model'))
  })
})

describe('tools', () => {
  const search = tool(({ q }) => `found ${q}`, {
    name: 'search',
    description: 'Finds.',
    schema: z.object({ q: z.string() }),
  })

  test('of an agent know their call, and the state is the one invoke gives', async () => {
    const steps: ModelStep[] = [['Let me see', ...callChunks('call-1', 'search', { q: 'tea' })], ['Done']]
    const agent = () => createAgent({ model: agentModel(steps), tools: [search], name: 'Boss' })
    const input = { messages: [new HumanMessage({ id: 'h', content: 'Hi' })] }
    const events = await record(agent(), input)
    expect(outline(events)).toEqual([
      'node-start model_request',
      'model-start model_request/model',
      'chunk model_request/model: Let me see',
      'chunk model_request/model: ',
      'chunk model_request/model: ',
      'chunk model_request/model: ',
      'model-end model_request/model',
      'node-end model_request',
      'node-start tools',
      'tool-start tools/search',
      'tool-end tools/search',
      'node-end tools',
      'node-start model_request',
      'model-start model_request/model',
      'chunk model_request/model: Done',
      'model-end model_request/model',
      'node-end model_request',
    ])
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'tool-start', toolCallId: 'call-1', input: '{"q":"tea"}' }),
    )
    const texts = (state: unknown) => (state as { messages: AIMessage[] }).messages.map(({ text }) => text)
    expect(texts(lastValues(events))).toEqual(['Hi', 'Let me see', 'found tea', 'Done'])
    expect(texts(lastValues(events))).toEqual(texts(await agent().invoke(input)))
  })

  test('that code calls by itself have no call', async () => {
    const graph = new StateGraph(Log)
      .addNode('look', async () => ({ log: [await search.invoke({ q: 'x' })] }))
      .addEdge(START, 'look')
      .compile()
    const events = await record(graph, { log: [] })
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'tool-start', name: 'search', toolCallId: undefined }),
    )
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool-end', output: 'found x' }))
  })

  test('of a ToolNode are part of its node, which is no graph', async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('tools', new ToolNode([search]))
      .addEdge(START, 'tools')
      .compile()
    const call = new AIMessage({ content: '', tool_calls: [{ id: 'c1', name: 'search', args: { q: 'x' } }] })
    const events = await record(graph, { messages: [call] })
    expect(outline(events)).toEqual([
      'node-start tools',
      'tool-start tools/search',
      'tool-end tools/search',
      'node-end tools',
    ])
    const end = events.find((event) => event.type === 'tool-end')
    expect(end?.output).toBeInstanceOf(ToolMessage)
  })

  test('that yield give what they yield', async () => {
    const slow = tool(
      async function* () {
        yield 'half'
        yield 'all'
        return await Promise.resolve('end')
      } as () => unknown,
      { name: 'slow', description: 'Takes time.', schema: z.object({}) },
    )
    const graph = new StateGraph(Log)
      .addNode('wait', async () => ({ log: [String(await slow.invoke({}))] }))
      .addEdge(START, 'wait')
      .compile()
    const events = await record(graph, { log: [] })
    expect(events.filter((event) => event.type === 'tool-output').map(({ chunk }) => chunk)).toEqual([
      'half',
      'all',
    ])
    expect(lastValues(events)).toEqual({ log: ['end'] })
  })

  test('that fail tell it', async () => {
    const broken = tool(
      () => {
        throw new Error('broken')
      },
      { name: 'broken', description: 'Fails.', schema: z.object({}) },
    )
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('tools', new ToolNode([broken]))
      .addEdge(START, 'tools')
      .compile()
    const call = new AIMessage({ content: '', tool_calls: [{ id: 'call-1', name: 'broken', args: {} }] })
    const events = await record(graph, { messages: [call] })
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'tool-error', error: new Error('broken'), isInterrupt: false }),
    )
    expect(outline(events).at(-1)).toBe('node-end tools')
  })

  test('may run a graph, which is part of the tool', async () => {
    const inner = createAgent({ model: agentModel([['inside']]), tools: [], name: 'Researcher' })
    const ask = tool(
      async () => {
        const { messages } = await inner.invoke({ messages: [new HumanMessage('?')] })
        return messages.at(-1)?.text ?? ''
      },
      { name: 'ask', description: 'Asks.', schema: z.object({}) },
    )
    const model = agentModel([callChunks('call-1', 'ask', {}), ['Done']])
    const events = await record(createAgent({ model, tools: [ask] }), { messages: [new HumanMessage('Hi')] })
    expect(outline(events).filter((line) => line.includes('ask'))).toEqual([
      'tool-start tools/ask',
      'graph-start tools/ask/Researcher',
      'node-start tools/ask/Researcher/model_request',
      'model-start tools/ask/Researcher/model_request/model',
      'chunk tools/ask/Researcher/model_request/model: inside',
      'model-end tools/ask/Researcher/model_request/model',
      'node-end tools/ask/Researcher/model_request',
      'graph-end tools/ask/Researcher',
      'tool-end tools/ask',
    ])
    expect(events).toContainEqual(expect.objectContaining({ type: 'graph-start', isNode: false }))
  })
})

describe('interrupts', () => {
  const thread = () => ({ config: { configurable: { thread_id: 't' } } })
  const asks = (question: string) => () => ({ log: [String(interrupt(question))] })

  test('end the graph without an error, and have the namespace that raised them', async () => {
    const inner = new StateGraph(Log).addNode('ask', asks('deep?')).addEdge(START, 'ask').compile()
    const graph = new StateGraph(Log)
      .addNode('team', inner)
      .addNode('flat', asks('flat?'))
      .addEdge(START, 'team')
      .addEdge(START, 'flat')
      .compile({ checkpointer: new MemorySaver() })
    const events = await record(graph, { log: [] }, thread())
    const asked = events.flatMap((event) => (event.type === 'interrupts' ? event.interrupts : []))
    expect(asked.map(({ value, ns }) => [value, ns.map((part) => part.split(':')[0])])).toEqual([
      ['flat?', []],
      ['deep?', ['team']],
    ])
    expect(new Set(asked.map(({ id }) => id)).size).toBe(2)
    const errors = events.filter((event) => event.type === 'node-error' || event.type === 'graph-error')
    expect(errors).toHaveLength(4)
    expect(errors.every(({ isInterrupt }) => isInterrupt)).toBe(true)
    const keys = events.flatMap((event) => (event.type === 'values' ? Object.keys(event.values) : []))
    expect(new Set(keys)).toEqual(new Set(['log']))
  })

  test('of a tool are no error of it', async () => {
    const approve = tool(() => String(interrupt('sure?')), {
      name: 'approve',
      description: 'Asks.',
      schema: z.object({}),
    })
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('tools', new ToolNode([approve]))
      .addEdge(START, 'tools')
      .compile({ checkpointer: new MemorySaver() })
    const call = new AIMessage({ content: '', tool_calls: [{ id: 'c1', name: 'approve', args: {} }] })
    const events = await record(graph, { messages: [call] }, thread())
    expect(outline(events)).toEqual([
      'node-start tools',
      'tool-start tools/approve',
      'tool-error tools/approve',
      'node-error tools',
      'interrupts',
    ])
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool-error', isInterrupt: true }))
  })

  test('that the node around catches are left out', async () => {
    const inner = new StateGraph(Log).addNode('ask', asks('deep?')).addEdge(START, 'ask').compile()
    const graph = new StateGraph(Log)
      .addNode('team', async () => {
        await inner.invoke({ log: [] }).catch(() => undefined)
        return { log: ['never mind'] }
      })
      .addEdge(START, 'team')
      .compile({ checkpointer: new MemorySaver() })
    const events = await record(graph, { log: [] }, thread())
    expect(events.filter(({ type }) => type === 'interrupts')).toEqual([])
    expect(lastValues(events)).toEqual({ log: ['never mind'] })
  })

  test('tell how the answer should look', async () => {
    const graph = new StateGraph(Log)
      .addNode('ask', () => ({ log: [interrupt('how?', { responseSchema: z.string() })] }))
      .addEdge(START, 'ask')
      .compile({ checkpointer: new MemorySaver() })
    const events = await record(graph, { log: [] }, thread())
    const asked = events.flatMap((event) => (event.type === 'interrupts' ? event.interrupts : []))
    expect(asked).toMatchObject([{ value: 'how?', responseSchema: { type: 'string' } }])
  })

  test('are answered by a command', async () => {
    const graph = new StateGraph(Log)
      .addNode('ask', asks('who?'))
      .addEdge(START, 'ask')
      .compile({ checkpointer: new MemorySaver() })
    const first = await record(graph, { log: [] }, thread())
    const id = first.flatMap((event) => (event.type === 'interrupts' ? event.interrupts : []))[0]?.id
    const events = await record(graph, new Command({ resume: { [String(id)]: 'me' } }), thread())
    expect(outline(events)).toEqual(['node-start ask', 'node-end ask'])
    expect(lastValues(events)).toEqual({ log: ['me'] })
  })

  test('of a breakpoint are an empty list, and null goes on', async () => {
    const graph = new StateGraph(Log)
      .addNode('a', appends('a'))
      .addNode('b', appends('b'))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .compile({ checkpointer: new MemorySaver(), interruptBefore: ['b'] })
    const events = await record(graph, { log: [] }, thread())
    expect(events.at(-1)).toEqual({ type: 'interrupts', interrupts: [] })
    expect(outline(await record(graph, null, thread()))).toEqual(['node-start b', 'node-end b'])
  })

  test('leave finished siblings alone when they are answered', async () => {
    const graph = new StateGraph(Log)
      .addNode('ask', asks('who?'))
      .addNode('other', appends('other'))
      .addEdge(START, 'ask')
      .addEdge(START, 'other')
      .compile({ checkpointer: new MemorySaver() })
    await record(graph, { log: [] }, thread())
    const events = await record(graph, new Command({ resume: 'me' }), thread())
    expect(outline(events)).toEqual(['node-start ask', 'node-end ask'])
    expect(lastValues(events)).toEqual({ log: expect.arrayContaining(['me', 'other']) as unknown })
  })
})

test('A graph without an end fails as it does on its own', async () => {
  const graph = new StateGraph(Log)
    .addNode('again', () => new Command({ goto: 'again' }), { ends: ['again', END] })
    .addEdge(START, 'again')
    .compile()
  await expect(record(graph, { log: [] }, { config: { recursionLimit: 3 } })).rejects.toThrow(
    GraphRecursionError,
  )
})

test('An input that the graph refuses is an error of the run', async () => {
  const graph = new StateGraph(Log).addNode('a', appends('a')).addEdge(START, 'a').compile()
  await expect(record(graph, null)).rejects.toThrow()
})

describe('chunks of the graph', () => {
  test('The state of the graph itself is read, that of graphs inside is not', () => {
    const read = createChunkReader()
    expect(read([[], 'values', { a: 1 }])).toEqual({ type: 'values', values: { a: 1 } })
    expect(read([['sub:1'], 'values', { a: 2 }])).toBeUndefined()
  })

  test('An interrupt comes once, with the innermost namespace that raised it', () => {
    const read = createChunkReader()
    const asked = { __interrupt__: [{ id: 'q1', value: 'who?' }] }
    expect(read([['a:1', 'b:2'], 'values', asked])).toBeUndefined()
    expect(read([['a:1'], 'values', asked])).toBeUndefined()
    expect(read([[], 'values', asked])).toEqual({
      type: 'interrupts',
      interrupts: [{ id: 'q1', value: 'who?', ns: ['a:1', 'b:2'] }],
    })
  })

  test('An interrupt without an id has the namespace of the root graph', () => {
    const read = createChunkReader()
    read([['a:1'], 'values', { __interrupt__: [{ value: 1 }] }])
    expect(read([[], 'values', { __interrupt__: [{ value: 1 }, 'bare'] }])).toEqual({
      type: 'interrupts',
      interrupts: [
        { id: undefined, value: 1, ns: [] },
        { id: undefined, value: 'bare', ns: [] },
      ],
    })
  })

  test.each([
    ['text', 'stream'],
    [['values', {}], 'stream'],
    [[[], 'tasks', {}], 'stream:tasks'],
    [[[], 'values', 7], 'stream:values'],
  ])('%j is unknown', (chunk, name) => {
    expect(createChunkReader()(chunk)).toEqual({ type: 'unknown', name })
  })
})

describe('the callback handler', () => {
  function hear(): { handler: GraphCallbackHandler; events: GraphEvent[]; problems: string[] } {
    const events: GraphEvent[] = []
    const problems: string[] = []
    const put = (event: GraphEvent): undefined => void events.push(event)
    return {
      handler: new GraphCallbackHandler({
        ...{ put, report: (problem: string) => problems.push(problem), callId: (wanted: string) => wanted },
      }),
      events,
      problems,
    }
  }

  test('What cannot be read is reported, and does not throw', async () => {
    const { handler, events, problems } = hear()
    await handler.handleLLMEnd(undefined as never, 'r1')
    expect(events).toEqual([])
    expect(problems).toEqual(['An event of LangGraph could not be read.'])
  })

  test('Copies of a handler are the handler', () => {
    const { handler } = hear()
    expect(handler.copy()).toBe(handler)
  })

  test('A token without a message is a piece of text', async () => {
    const { handler, events } = hear()
    await handler.handleLLMNewToken('word', { prompt: 0, completion: 0 }, 'r1')
    expect(events).toEqual([{ type: 'model-chunk', runId: 'r1', message: new AIMessageChunk('word') }])
  })

  test('The end of an unknown run is left out', async () => {
    const { handler, events } = hear()
    await handler.handleChainEnd({}, 'r1')
    await handler.handleChainError(new Error('no'), 'r2')
    expect(events).toEqual([])
  })

  describe('tools', () => {
    test('that take a text have it as JSON', async () => {
      const { handler, events } = hear()
      const shout = new DynamicTool({
        name: 'shout',
        description: 'Shouts.',
        func: (text) => Promise.resolve(text.toUpperCase()),
      })
      await shout.invoke('tea', { callbacks: [handler] })
      expect(events).toMatchObject([
        { type: 'tool-start', name: 'shout' },
        { type: 'tool-end', output: 'TEA' },
      ])
      expect(JSON.parse((events[0] as { input: string }).input)).toEqual({ input: 'tea' })
    })

    test('that are a class have a name', async () => {
      class Shout extends Tool {
        name = 'shout'
        description = 'Shouts.'
        protected override _call(text: string): Promise<string> {
          return Promise.resolve(text)
        }
      }
      const { handler, events } = hear()
      await new Shout().invoke('tea', { callbacks: [handler] })
      expect(events[0]).toMatchObject({ type: 'tool-start', name: expect.stringMatching(/shout/i) as string })
    })
  })
})

describe('back-pressure and abort', () => {
  const Log = Annotation.Root({
    log: Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
  })

  const input = { messages: [new HumanMessage({ id: 'h', content: 'Hi' })] }

  const chat = (model: FakeModel) =>
    new StateGraph(MessagesAnnotation)
      .addNode('talk', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, 'talk')
      .compile({ checkpointer: new MemorySaver() })

  const oneNode = (node: (state: unknown, config: LangGraphRunnableConfig) => unknown) =>
    new StateGraph(Log)
      .addNode('node', async (state, config) => {
        await node(state, config)
        return { log: ['done'] }
      })
      .addEdge(START, 'node')
      .compile()

  function open(graph: StreamableGraph, options: Partial<GraphStreamOptions> = {}) {
    return new GraphStream(graph, {
      input,
      config: { configurable: { thread_id: 't' } },
      signal: new AbortController().signal,
      report: (problem) => expect.unreachable(problem),
      ...options,
    })
  }

  async function all(stream: AsyncIterable<GraphEvent>): Promise<GraphEvent[]> {
    const events: GraphEvent[] = []
    for await (const event of stream) events.push(event)
    return events
  }

  async function until(stream: AsyncGenerator<GraphEvent>, type: GraphEvent['type']): Promise<GraphEvent> {
    for (;;) {
      const step = await stream.next()
      if (step.done === true) throw new Error(`There was no ${type}.`)
      if (step.value.type === type) return step.value
    }
  }

  /** Waits until everything has settled. */
  const idle = () => new Promise((resolve) => setImmediate(resolve))

  /** A model that counts what it has sent. */
  function countingModel(total: number) {
    let sent = 0
    const model = new FakeModel([Array.from({ length: total }, (_, at) => `${at} `)], () => {
      sent++
      return Promise.resolve()
    })
    return { model, sent: () => sent }
  }

  const stray: unknown[] = []
  const note = (error: unknown): void => void stray.push(error)
  beforeEach(() => {
    stray.length = 0
    process.on('unhandledRejection', note)
  })
  afterEach(async () => {
    await idle()
    process.off('unhandledRejection', note)
    expect(stray).toEqual([])
  })

  describe('a slow reader', () => {
    test('makes the model wait', async () => {
      const { model, sent } = countingModel(100)
      const stream = open(chat(model), { capacity: 4 })
      await until(stream, 'model-chunk')
      for (let turn = 0; turn < 50; turn++) await idle()
      expect(sent()).toBeLessThan(12)
      const rest = await all(stream)
      expect(rest.filter(({ type }) => type === 'model-chunk')).toHaveLength(99)
      expect(sent()).toBe(100)
    })

    test('makes a writer wait that awaits, and loses nothing of one that does not', async () => {
      let written = 0
      const graph = oneNode(async (_, { writer }) => {
        for (; written < 50; written++) await (writer?.(written) as unknown as Promise<void> | undefined)
        for (let at = 50; at < 60; at++) writer?.(at)
      })
      const stream = open(graph, { input: { log: [] }, capacity: 2 })
      await until(stream, 'custom')
      for (let turn = 0; turn < 20; turn++) await idle()
      expect(written).toBeLessThan(8)
      const rest = (await all(stream)).flatMap((event) => (event.type === 'custom' ? [event.value] : []))
      expect(rest).toEqual(Array.from({ length: 59 }, (_, at) => at + 1))
    })
  })

  describe('an abort', () => {
    test('stops the model within a chunk, and is what the reader gets', async () => {
      const { model, sent } = countingModel(100)
      const abort = new AbortController()
      const graph = chat(model)
      const stream = open(graph, { signal: abort.signal, capacity: 0 })
      await until(stream, 'model-chunk')
      const before = sent()
      abort.abort(new Error('enough'))
      await expect(stream.next()).rejects.toThrow('enough')
      await expect(stream.next()).resolves.toEqual({ done: true, value: undefined })
      for (let turn = 0; turn < 20; turn++) await idle()
      // The chunk under way, and the one that sees the abort.
      expect(sent()).toBeLessThanOrEqual(before + 2)
      const state = await graph.getState({ configurable: { thread_id: 't' } })
      expect(state.next).toEqual(['talk'])
    })

    test('reaches a reader that waits', async () => {
      const abort = new AbortController()
      const gate = new Promise<void>(() => undefined)
      const stream = open(chat(new FakeModel([['never']], () => gate)), { signal: abort.signal, graceMs: 5 })
      await until(stream, 'model-start')
      const next = until(stream, 'model-chunk')
      await idle()
      abort.abort(new Error('enough'))
      await expect(next).rejects.toThrow('enough')
    })

    test('does not wait longer than the grace time for a graph that does not stop', async () => {
      class Stuck extends MemorySaver {
        override put(): Promise<never> {
          return new Promise(() => undefined)
        }
      }
      const clock = manualClock()
      const abort = new AbortController()
      const graph = new StateGraph(Log)
        .addNode('slow', () => new Promise<never>(() => undefined))
        .addEdge(START, 'slow')
        .compile({ checkpointer: new Stuck() })
      const stream = open(graph, { input: { log: [] }, signal: abort.signal, clock, graceMs: 1000 })
      await until(stream, 'node-start')
      const next = until(stream, 'node-end')
      abort.abort(new Error('enough'))
      let isOver = false
      void next.catch(() => (isOver = true))
      for (let turn = 0; turn < 20; turn++) await idle()
      expect(isOver).toBe(false)
      await clock.advance(1000)
      await expect(next).rejects.toThrow('enough')
    })

    test('before the start leaves the graph alone', async () => {
      const { model, sent } = countingModel(1)
      const stream = open(chat(model), { signal: AbortSignal.abort(new Error('too late')) })
      await expect(stream.next()).rejects.toThrow('too late')
      expect(sent()).toBe(0)
    })

    test('of the config counts as well', async () => {
      const abort = new AbortController()
      const config = { configurable: { thread_id: 't' }, signal: abort.signal }
      const stream = open(chat(countingModel(100).model), { config })
      await until(stream, 'model-chunk')
      abort.abort(new Error('own'))
      await expect(all(stream)).rejects.toThrow('own')
    })

    test('leaves nothing behind at the signal', async () => {
      const abort = new AbortController()
      let listeners = 0
      const { signal } = abort
      const add = signal.addEventListener.bind(signal)
      const remove = signal.removeEventListener.bind(signal)
      signal.addEventListener = (...args: Parameters<typeof add>) => {
        listeners++
        add(...args)
      }
      signal.removeEventListener = (...args: Parameters<typeof remove>) => {
        listeners--
        remove(...args)
      }
      await all(open(chat(new FakeModel([['a']])), { signal }))
      expect(listeners).toBe(0)
    })
  })

  describe('a reader that leaves', () => {
    test('stops the graph', async () => {
      const { model, sent } = countingModel(100)
      for await (const event of open(chat(model), { capacity: 1 })) if (event.type === 'model-chunk') break
      const before = sent()
      for (let turn = 0; turn < 20; turn++) await idle()
      expect(sent()).toBe(before)
      expect(before).toBeLessThan(10)
    })

    test('does not wait for a next that is pending', async () => {
      const gate = new Promise<void>(() => undefined)
      const stream = open(chat(new FakeModel([['never']], () => gate)), { graceMs: 5 })
      await until(stream, 'model-start')
      const next = until(stream, 'model-chunk')
      await idle()
      const left = stream.return()
      await expect(next).rejects.toThrow('The stream was closed.')
      await expect(left).resolves.toEqual({ done: true, value: undefined })
    })

    test('before the start has nothing to stop', async () => {
      const { model, sent } = countingModel(1)
      const stream = open(chat(model))
      await stream.return()
      await expect(stream.next()).resolves.toEqual({ done: true, value: undefined })
      expect(sent()).toBe(0)
    })

    test('in the moment the graph ends or fails or is aborted does no harm', async () => {
      for (const last of ['b', new Error('failed')]) {
        for (let reads = 1; reads < 8; reads++) {
          const abort = new AbortController()
          const stream = open(chat(new FakeModel([['a', last]])), {
            signal: abort.signal,
            capacity: 1,
            // The clock stands still: nothing here may need the grace time.
            clock: manualClock(),
          })
          for (let read = 0; read < reads; read++) await stream.next().catch(() => undefined)
          const pending = stream.next().catch(() => undefined)
          if (reads % 2 === 0) abort.abort()
          await stream.return()
          await pending
        }
      }
    })
  })

  describe('custom events', () => {
    test('through its writer has a name and a value, and the node it comes from', async () => {
      const graph = oneNode((_, { writer }) => {
        writer?.({ name: 'chart', payload: { points: [1] } })
        getWriter()?.('plain')
        writer?.({ name: 'no payload' })
      })
      const events = await all(open(graph, { input: { log: [] } }))
      const runId = events.flatMap((event) => (event.type === 'node-start' ? [event.runId] : []))[0]
      expect(events.filter(({ type }) => type === 'custom')).toEqual([
        { type: 'custom', name: 'chart', value: { points: [1] }, runId },
        { type: 'custom', name: 'langgraph.custom', value: 'plain', runId },
        { type: 'custom', name: 'langgraph.custom', value: { name: 'no payload' }, runId },
      ])
    })

    test('in a graph inside comes from the node of that graph', async () => {
      const inner = oneNode((_, { writer }) => writer?.({ name: 'deep', payload: 1 }))
      const graph = new StateGraph(Log).addNode('team', inner).addEdge(START, 'team').compile()
      const events = await all(open(graph, { input: { log: [] } }))
      const inside = events.find((event) => event.type === 'node-start' && event.node === 'node')
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'custom', name: 'deep', runId: (inside as { runId: string }).runId }),
      )
    })

    test('through the writer of the config reaches that one, too', async () => {
      const written: unknown[] = []
      const graph = oneNode((_, { writer }) => writer?.('x'))
      const config = { writer: (value: unknown) => void written.push(value) }
      const events = await all(open(graph, { input: { log: [] }, config }))
      expect(written).toEqual(['x'])
      expect(events).toContainEqual(expect.objectContaining({ type: 'custom', value: 'x' }))
    })

    test('as a custom event of LangChain', async () => {
      const graph = oneNode(() => dispatchCustomEvent('news', { a: 1 }))
      const events = await all(open(graph, { input: { log: [] } }))
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'custom', name: 'news', value: { a: 1 } }),
      )
    })
  })

  describe('the callbacks of the user', () => {
    class Names extends BaseCallbackHandler {
      readonly name = 'names'
      override awaitHandlers = true
      readonly seen: unknown[] = []
      override handleChatModelStart(): void {
        this.seen.push('model')
      }
    }

    test('keep working as a list', async () => {
      const own = new Names()
      const config = { configurable: { thread_id: 't' }, callbacks: [own] }
      const events = await all(open(chat(new FakeModel([['a']])), { config }))
      expect(own.seen).toEqual(['model'])
      expect(events).toContainEqual(expect.objectContaining({ type: 'model-chunk' }))
      expect(config.callbacks).toEqual([own])
    })

    test('keep working as a manager, which stays as it was', async () => {
      const own = new Names()
      const callbacks = new CallbackManager()
      callbacks.addHandler(own, true)
      const config = { configurable: { thread_id: 't' }, callbacks }
      const events = await all(open(chat(new FakeModel([['a']])), { config }))
      expect(own.seen).toEqual(['model'])
      expect(events).toContainEqual(expect.objectContaining({ type: 'model-chunk' }))
      expect(callbacks.handlers).toEqual([own])
    })
  })

  test('A stream mode of the config does not change what is read', async () => {
    const graph = new StateGraph(Log)
      .addNode('a', () => ({ log: ['a'] }))
      .addEdge(START, 'a')
      .compile()
    const config = { streamMode: 'updates', subgraphs: false, encoding: 'text/event-stream' }
    const events = await all(open(graph, { input: { log: [] }, config }))
    expect(events.at(-1)).toEqual({ type: 'values', values: { log: ['a'] } })
  })

  test('A graph that a node runs through a source of its own is not a part of the one around', async () => {
    const inner = chat(new FakeModel([['inside']]))
    let insideEvents: GraphEvent[] = []
    const graph = oneNode(async () => {
      insideEvents = await all(open(inner))
    })
    const events = await all(open(graph, { input: { log: [] } }))
    expect(insideEvents.map(({ type }) => type)).toContain('model-chunk')
    expect(events.map(({ type }) => type)).toEqual(['node-start', 'values', 'node-end', 'values'])
  })
})
