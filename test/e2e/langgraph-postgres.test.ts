import type { EventEmitter } from 'node:events'
import {
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from '@langchain/langgraph'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { FakeModel } from '../support/langgraph/fake-model.js'
import { promptText, historyOf, interruptsIn, serveGraph, textIn } from '../support/langgraph/serve-graph.js'
import { linesOf } from '../support/serve-agents.js'
import { startPostgres, type Postgres } from '../support/postgres.js'
import { newClient } from './support-clients.js'

let server: Postgres

beforeAll(async () => {
  server = await startPostgres()
}, 60_000)

afterAll(async () => {
  await server.stop()
})

/** A new database. Each process has a connection of its own to it. */
async function newDatabase(name: string): Promise<() => BaseCheckpointSaver> {
  const address = await server.database(name)
  const open = (): PostgresSaver => {
    const saver = PostgresSaver.fromConnString(address)
    // Its sockets may outlive `end` by a moment, and the server ends them then.
    const { pool } = saver as unknown as { pool: EventEmitter }
    pool.on('error', () => undefined)
    onTestFinished(() => saver.end())
    return saver
  }
  await open().setup()
  return open
}

it('an interrupt is answered after a restart of the server, with checkpoints in PostgreSQL', async () => {
  const model = new FakeModel([['Sure?'], ['Paid.']])
  let asks = 0
  const make = (checkpointer: BaseCheckpointSaver) => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode('ask', () => {
        asks++
        const answer = interrupt<unknown, { approved: boolean }>({ message: 'Pay 3 euros?' })
        return { messages: [{ role: 'user', content: answer.approved ? 'Yes.' : 'No.' }] }
      })
      .addNode('pay', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, 'agent')
      .addEdge('agent', 'ask')
      .addEdge('ask', 'pay')
      .compile({ checkpointer })
    return fromLangGraph(graph, { name: 'payer' })
  }
  const checkpoints = await newDatabase('questions')
  const served = await serveGraph({ make, store: 'sqlite', checkpoints })
  const events = await served.talk().say('Pay')
  expect([textIn(events), interruptsIn(events).map(({ message }) => message)]).toEqual([
    'Sure?',
    ['Pay 3 euros?'],
  ])

  const restarted = await served.restart()
  const client = newClient({ url: restarted.url })
  await client.connectAgent()
  expect(client.pendingInterrupts.map(({ message }) => message)).toEqual(['Pay 3 euros?'])
  await client.runAgent({
    resume: client.pendingInterrupts.map(({ id }) => ({
      interruptId: id,
      status: 'resolved',
      payload: { approved: true },
    })),
  })
  expect(linesOf(await historyOf(restarted))).toEqual(['user: Pay', 'assistant: Sure?', 'assistant: Paid.'])
  // The interrupted node starts again; the one before it does not.
  expect([asks, model.calls.length]).toEqual([2, 2])
  expect(promptText(model.calls[1])).toEqual(['human: Pay', 'ai: Sure?', 'human: Yes.'])
})

it('a thread is gone on with, edited and deleted, with checkpoints in PostgreSQL', async () => {
  const model = new FakeModel([['One.'], ['Two.'], ['Again.']])
  let saver: BaseCheckpointSaver | undefined
  const make = (checkpointer: BaseCheckpointSaver) => {
    saver = checkpointer
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, 'agent')
      .compile({ checkpointer })
    return fromLangGraph(graph, { name: 'chat', threadId: ({ threadId }) => threadId })
  }
  const served = await serveGraph({ make, store: 'sqlite', checkpoints: await newDatabase('chats') })
  const talk = served.talk()
  await talk.say('First')
  await talk.say('Second')
  const restarted = await served.restart()
  const next = restarted.talk()
  next.client.setMessages(talk.client.messages.slice(0, 2))
  expect(textIn(await next.say('Other'))).toBe('Again.')
  expect(promptText(model.calls[2])).toEqual(['human: First', 'ai: One.', 'human: Other'])
  const { status } = await restarted.ask('DELETE /thread/thread-1')
  expect(status).toBeLessThan(300)
  expect(await saver?.getTuple({ configurable: { thread_id: 'thread-1' } })).toBeUndefined()
})
