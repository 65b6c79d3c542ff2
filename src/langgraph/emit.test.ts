import { AIMessage } from '@langchain/core/messages'
import { RunnableLambda } from '@langchain/core/runnables'
import { tool } from '@langchain/core/tools'
import { Annotation, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { createEmitter, emit, emitMessage, emitState, emitToolCall } from './emit.js'
import type { GraphEvent } from './contract.js'
import type { StreamableGraph } from './contract.js'
import { outsideOfGraphs } from './source/current-run.js'
import { GraphStream } from './source/graph-stream.js'

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
})

const oneNode = (work: () => unknown) =>
  new StateGraph(Log)
    .addNode('node', async () => {
      await work()
      return { log: ['done'] }
    })
    .addEdge(START, 'node')
    .compile()

async function record(graph: StreamableGraph, input: unknown = { log: [] }): Promise<GraphEvent[]> {
  const events: GraphEvent[] = []
  const { signal } = new AbortController()
  const report = (problem: string): never => expect.unreachable(problem)
  for await (const event of new GraphStream(graph, { input, config: {}, signal, report })) events.push(event)
  return events
}

async function customs(graph: StreamableGraph, input?: unknown): Promise<[string, unknown][]> {
  const events = await record(graph, input)
  return events.flatMap((event) => (event.type === 'custom' ? [[event.name, event.value]] : []))
}

const chatty = tool(
  async () => {
    void emit('in tool', 1)
    await emit('in tool', 2)
    return 'ok'
  },
  { name: 'chatty', description: 'Talks.', schema: z.object({}) },
)

describe('emit', () => {
  test('sends from a node, awaited or not, in the order of the calls', async () => {
    const graph = oneNode(async () => {
      void emit('a', { n: 1 })
      await emit('b', [2])
      void emit('c', null)
    })
    expect(await customs(graph)).toEqual([
      ['a', { n: 1 }],
      ['b', [2]],
      ['c', null],
    ])
  })

  test('sends from a tool, and tells which one', async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('tools', new ToolNode([chatty]))
      .addEdge(START, 'tools')
      .compile()
    const call = new AIMessage({ content: '', tool_calls: [{ id: 'c1', name: 'chatty', args: {} }] })
    const events = await record(graph, { messages: [call] })
    const runId = events.flatMap((event) => (event.type === 'tool-start' ? [event.runId] : []))[0]
    expect(runId).toBeDefined()
    expect(events.filter(({ type }) => type === 'custom')).toEqual([
      { type: 'custom', name: 'in tool', value: 1, runId },
      { type: 'custom', name: 'in tool', value: 2, runId },
    ])
  })

  test('sends from a graph inside, from a function of LangChain, and after a wait', async () => {
    const deep = oneNode(async () => {
      await new Promise((resolve) => setImmediate(resolve))
      void emit('deep', 1)
      await RunnableLambda.from(() => emit('deeper', 2)).invoke(null)
    })
    const graph = new StateGraph(Log).addNode('team', deep).addEdge(START, 'team').compile()
    expect(await customs(graph)).toEqual([
      ['deep', 1],
      ['deeper', 2],
    ])
  })

  test('waits for a reader that is behind', async () => {
    let sent = 0
    const graph = oneNode(async () => {
      for (; sent < 50; sent++) await emit('n', sent)
    })
    const { signal } = new AbortController()
    const report = (problem: string): never => expect.unreachable(problem)
    const stream = new GraphStream(graph, { input: { log: [] }, config: {}, signal, report, capacity: 2 })
    for await (const event of stream) {
      if (event.type !== 'custom') continue
      await new Promise((resolve) => setImmediate(resolve))
      expect(sent).toBeLessThan(Number(event.value) + 6)
    }
    expect(sent).toBe(50)
  })

  test('gives the event to the writer of a graph that somebody else runs', async () => {
    const graph = oneNode(() => emit('chart', { n: 1 }))
    const chunks: unknown[] = []
    for await (const chunk of await graph.stream({ log: [] }, { streamMode: 'custom' })) chunks.push(chunk)
    expect(chunks).toEqual([{ name: 'chart', payload: { n: 1 } }])
  })

  test('gives the event to the callbacks of somebody else in a tool, which has no writer', async () => {
    const graph = oneNode(() => chatty.invoke({}))
    const seen: unknown[] = []
    const callbacks = [{ handleCustomEvent: (name: string, data: unknown) => void seen.push([name, data]) }]
    await graph.invoke({ log: [] }, { callbacks })
    await expect
      .poll(() => seen)
      .toEqual([
        ['in tool', 1],
        ['in tool', 2],
      ])
  })

  test('does nothing where nobody listens', async () => {
    const graph = oneNode(async () => {
      await emit('a', 1)
      await chatty.invoke({})
    })
    await expect(graph.invoke({ log: [] })).resolves.toEqual({ log: ['done'] })
  })

  test('does nothing outside of a graph, so that a node can be tested alone', async () => {
    await emit('chart', 1)
    await Promise.all([emitState({ n: 1 }), emitMessage('Hi'), emitToolCall({ name: 'x', args: {} })])
  })

  test('takes the config where the async context is lost, and tells who sent', async () => {
    const deep = new StateGraph(Log)
      .addNode('node', (_, config) => {
        outsideOfGraphs(() => {
          void emit('lost', 0)
          void emit('sent', 1, config)
          void emitState({ n: 1 }, config)
        })
        return { log: ['done'] }
      })
      .addEdge(START, 'node')
      .compile()
    const graph = new StateGraph(Log).addNode('team', deep).addEdge(START, 'team').compile()
    const events = await record(graph)
    const runIds = events.flatMap((event) => (event.type === 'node-start' ? [event.runId] : []))
    expect(events.filter(({ type }) => type === 'custom')).toEqual([
      { type: 'custom', name: 'sent', value: 1, runId: runIds.at(-1) },
      { type: 'custom', name: 'manually_emit_state', value: { n: 1 }, runId: runIds.at(-1) },
    ])
  })
})

test('An emitter knows its events', async () => {
  const send = createEmitter<{ chart: { points: number[] }; done: null }>()
  expectTypeOf(send<'chart'>)
    .parameter(1)
    .toEqualTypeOf<{ points: number[] }>()
  // @ts-expect-error -- the payload of another event
  const wrong = (): Promise<void> => send('done', { points: [] })
  // @ts-expect-error -- a name that was not declared
  const unknown = (): Promise<void> => send('nothing', null)
  expect([wrong, unknown]).toHaveLength(2)
  expect(await customs(oneNode(() => send('chart', { points: [1] })))).toEqual([['chart', { points: [1] }]])
})

describe('what the official adapter knows', () => {
  test('has the names and the shape of it', async () => {
    const graph = oneNode(() => {
      void emitState({ progress: 0.5 })
      void emitMessage('Hello', { id: 'm1' })
      void emitMessage('Psst', { id: 'm2', role: 'developer' })
      void emitToolCall({ id: 'c1', name: 'search', args: { q: 'tea' } })
      void emitToolCall({ id: 'c2', name: 'search', args: {}, result: 'found' })
    })
    expect(await customs(graph)).toEqual([
      ['manually_emit_state', { progress: 0.5 }],
      ['manually_emit_message', { message_id: 'm1', message: 'Hello', role: 'assistant' }],
      ['manually_emit_message', { message_id: 'm2', message: 'Psst', role: 'developer' }],
      ['manually_emit_tool_call', { id: 'c1', name: 'search', args: { q: 'tea' } }],
      ['manually_emit_tool_call', { id: 'c2', name: 'search', args: {}, result: 'found' }],
    ])
  })

  test('makes an id where none is given', async () => {
    const graph = oneNode(() => {
      void emitMessage('Hello')
      void emitToolCall({ name: 'search', args: {} })
    })
    const [message, call] = await customs(graph)
    expect(message?.[1]).toMatchObject({ message_id: expect.stringMatching(/^shown-.{36}$/) as string })
    expect(call?.[1]).toMatchObject({ id: expect.stringMatching(/^shown-.{36}$/) as string })
  })
})
