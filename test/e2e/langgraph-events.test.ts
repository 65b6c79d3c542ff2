import { EventEmitter } from 'node:events'
import type { RunnableConfig } from '@langchain/core/runnables'
import { type BaseCheckpointSaver, MessagesAnnotation, Send, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'
import { emit, fromLangGraph } from '../../src/langgraph/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { callChunks, FakeModel, type ModelStep } from '../support/langgraph/fake-model.js'
import { serveGraph, textsIn, type ServeGraphOptions } from '../support/langgraph/serve-graph.js'
import { ofType } from '../support/run-agent.js'

type Node = (state: typeof MessagesAnnotation.State, config: RunnableConfig) => unknown

/** Serves a graph of one node. */
const serveNode = (node: Node, options: Partial<ServeGraphOptions> = {}) =>
  serveGraph({
    ...options,
    make: (checkpointer: BaseCheckpointSaver) => {
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('work', async (state, config) => {
          await node(state, config)
          return {}
        })
        .addEdge(START, 'work')
        .compile({ checkpointer })
      return fromLangGraph(graph, { name: 'worker' })
    },
  })

describe('parallel nodes', () => {
  /** Pieces of several models, one of each in turn. */
  function inTurns(count: number): (index: number) => Promise<void> {
    const waiting: (() => void)[] = []
    return () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        if (waiting.length < count) return
        for (const next of waiting.splice(0)) next()
      })
  }

  const reasoning = (text: string) => ({ content: '', additional_kwargs: { reasoning_content: text } })
  const scripts: Readonly<Record<string, (n: number) => ModelStep>> = {
    'text alone': (n) => [`a${n}`, `b${n}`, `c${n}`],
    'reasoning, then text': (n) => [reasoning(`r${n}`), reasoning('!'), `a${n}`, `b${n}`],
    'of different length': (n) => [...Array<string>(n + 1).fill(`${n}`), ...Array<string>(4 - n).fill('')],
    'text and a call': (n) => [`a${n}`, `b${n}`, ...callChunks(`call-${n}`, 'look', { n })],
  }

  it.each(Object.entries(scripts))('a message ends once, after all of its text: %s', async (_, script) => {
    const turns = inTurns(4)
    const make = (checkpointer: BaseCheckpointSaver) => {
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('plan', () => ({}))
        .addNode('work', async ({ n }: { n: number }) => {
          const model = new FakeModel([script(n)], () => turns(n))
          return { messages: [await model.invoke('Go')] }
        })
        .addEdge(START, 'plan')
        .addConditionalEdges('plan', () => [0, 1, 2, 3].map((n) => new Send('work', { n })))
        .compile({ checkpointer })
      return fromLangGraph(graph, { name: 'crew' })
    }
    const served = await serveGraph({ make })
    const events = await served.talk().say('Go')
    expect(endsBeforeTheEnd(events)).toEqual([])
    expect(ofType(events, 'TEXT_MESSAGE_END')).toHaveLength(4)
    expect(ofType(events, 'TEXT_MESSAGE_START')).toHaveLength(4)
    expect(textsIn(events).toSorted()).toEqual(
      [0, 1, 2, 3].map((n) =>
        script(n)
          .filter((piece) => typeof piece === 'string')
          .join(''),
      ),
    )
  })

  /** The ends of messages and reasoning that something of the same id follows. */
  function endsBeforeTheEnd(events: readonly AgUiEvent[]): string[] {
    const idOf = (event: AgUiEvent) =>
      /^(TEXT|REASONING)_/.test(event.type) ? (event as { messageId: string }).messageId : undefined
    return events.flatMap((event, index) => {
      if (!/_MESSAGE_END$/.test(event.type)) return []
      const later = events.slice(index + 1).filter((other) => /_MESSAGE_/.test(other.type))
      return later.some((other) => idOf(other) === idOf(event)) ? [`${event.type} ${idOf(event)}`] : []
    })
  }
})

describe('events of the application', () => {
  const report: Node = async (_, config) => {
    await emit('progress', { done: 1 }, config)
    return {}
  }

  it('a node that emits can be called alone, in a unit test', async () => {
    await expect(report({ messages: [] }, {})).resolves.toEqual({})
    await emit('nobody', 'listens')
  })

  it('an event from a worker that was there before the run arrives, with the config', async () => {
    const jobs: (() => void)[] = []
    let wake: () => void = () => undefined
    // The worker's async context is that of its start.
    const worker = (async () => {
      await new Promise<void>((resolve) => (wake = resolve))
      for (const job of jobs) job()
    })()
    const served = await serveNode(async (_, config) => {
      jobs.push(() => void emit('lost', 1))
      jobs.push(() => void emit('sent', 2, config))
      wake()
      await worker
    })
    const events = await served.talk().say('Go')
    expect(ofType(events, 'CUSTOM')).toMatchObject([{ name: 'sent', value: 2 }])
  })

  it('a payload that is not JSON is logged, not sent as null; what JSON can show is sent', async () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const logged: string[] = []
    const note = (fields: object): void => void logged.push(JSON.stringify(fields))
    const log = { debug: note, info: note, warn: note, error: note }
    const node = (): void => {
      void emit('later', Promise.resolve(1))
      void emit('emitter', new EventEmitter())
      void emit('function', () => 1)
      void emit('rest', { circle, when: new Date(0), map: new Map([['a', 1n]]) })
    }
    const served = await serveNode(node, { log })
    const events = await served.talk().say('Go')
    expect(ofType(events, 'CUSTOM').map(({ name, value }) => [name, value as unknown])).toEqual([
      ['rest', { circle: {}, when: '1970-01-01T00:00:00.000Z', map: { a: '1' } }],
    ])
    for (const what of [
      "'later' is a Promise",
      "'emitter' is a EventEmitter",
      "'rest'.circle.self is a circle",
    ])
      expect(logged.join()).toContain(`the value of ${what}, not JSON`)
  })
})
