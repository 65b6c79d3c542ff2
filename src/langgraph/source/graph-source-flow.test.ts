import { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import { dispatchCustomEvent } from '@langchain/core/callbacks/dispatch'
import { CallbackManager } from '@langchain/core/callbacks/manager'
import { HumanMessage } from '@langchain/core/messages'
import {
  Annotation,
  getWriter,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type LangGraphRunnableConfig,
} from '@langchain/langgraph'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FakeModel } from '../../../test/support/langgraph/fake-model.js'
import { manualClock } from '../../core/clock.js'
import type { GraphEvent } from '../graph-event.js'
import { graphEvents, type GraphSourceOptions, type StreamableGraph } from './graph-source.js'

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

function open(graph: StreamableGraph, options: Partial<GraphSourceOptions> = {}) {
  return graphEvents(graph, {
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

/** Lets all that can go on go on. */
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
    // The one that was under way, and the one that finds out.
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
          // It stands still: nothing here may need the grace time.
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

describe('what a graph says by itself', () => {
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
    expect(events).toContainEqual(expect.objectContaining({ type: 'custom', name: 'news', value: { a: 1 } }))
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
