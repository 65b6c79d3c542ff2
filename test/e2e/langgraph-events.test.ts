import { EventEmitter } from 'node:events'
import type { RunnableConfig } from '@langchain/core/runnables'
import { type BaseCheckpointSaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'
import { emit, fromLangGraph } from '../../src/langgraph/index.js'
import { serveGraph, type ServeGraphOptions } from '../support/langgraph/serve-graph.js'
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
