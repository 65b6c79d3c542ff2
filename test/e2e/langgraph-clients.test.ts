import { tool } from '@langchain/core/tools'
import {
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from '@langchain/langgraph'
import { createAgent, humanInTheLoopMiddleware, type AgentMiddleware } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { callPieces, type ModelStep } from '../support/langgraph/fake-model.js'
import { agentModel, serveGraph } from '../support/langgraph/serve-graph.js'
import { linesOf } from '../support/serve-agents.js'
import { clients } from './support-clients.js'

function asker(checkpointer: BaseCheckpointSaver) {
  const ask = (message: string) => () => {
    const answer: unknown = interrupt({ message })
    return { messages: [{ role: 'assistant', content: `${message} ${JSON.stringify(answer)}` }] }
  }
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('one', ask('One?'))
    .addNode('two', ask('Two?'))
    .addEdge(START, 'one')
    .addEdge('one', 'two')
    .compile({ checkpointer })
  return fromLangGraph(graph, { name: 'asker' })
}

const paid: number[] = []
const pay = tool(
  ({ amount }) => {
    paid.push(amount)
    return `paid ${amount}`
  },
  { name: 'pay', description: 'Pays.', schema: z.object({ amount: z.number() }) },
)
// Its own type does not fit `exactOptionalPropertyTypes`.
const reviewing = humanInTheLoopMiddleware as unknown as (options: object) => AgentMiddleware

function payer(steps: readonly ModelStep[]) {
  paid.length = 0
  const model = agentModel(steps)
  return (checkpointer: BaseCheckpointSaver) => {
    const middleware = [reviewing({ interruptOn: { pay: true } })]
    return fromLangGraph(createAgent({ model, tools: [pay], checkpointer, middleware }), { name: 'payer' })
  }
}

describe.each(clients)('a client of version %s', (_, makeClient) => {
  it('is asked, answers, and is asked the next question', async () => {
    const served = await serveGraph({ make: asker })
    const client = makeClient({ url: served.url })
    client.addMessage({ id: 'u1', role: 'user', content: 'Go' })
    await client.runAgent()
    const asked: unknown[] = []
    for (const payload of [{ n: 1 }, false]) {
      const [question] = client.pendingInterrupts
      asked.push(question?.message)
      await client.runAgent({
        resume: [{ interruptId: question?.id ?? '', status: 'resolved', payload }],
      })
    }
    expect(asked).toEqual(['One?', 'Two?'])
    expect(client.pendingInterrupts).toEqual([])
    expect(linesOf(client.messages as never)).toEqual([
      'user: Go',
      'assistant: One? {"n":1}',
      'assistant: Two? false',
    ])
  })

  it('answers where clients used to put answers', async () => {
    const served = await serveGraph({ make: asker })
    const body = (runId: string, more: object = {}) => ({
      ...{ threadId: 'thread-1', runId, state: {}, tools: [], context: [], forwardedProps: {} },
      messages: [{ id: 'u1', role: 'user', content: 'Go' }],
      ...more,
    })
    await served.stream('/run', { body: body('r1') })
    for (const [runId, resume] of [
      ['r2', 'first'],
      ['r3', false],
    ] as const)
      await served.stream('/run', { body: body(runId, { forwardedProps: { command: { resume } } }) })
    const client = makeClient({ url: served.url })
    await client.connectAgent()
    expect(linesOf(client.messages as never)).toEqual([
      'user: Go',
      'assistant: One? "first"',
      'assistant: Two? false',
    ])
  })

  it('decides on several actions, where clients put answers now and where they used to', async () => {
    const calls = [...callPieces('c1', 'pay', { amount: 1 }, 0), ...callPieces('c2', 'pay', { amount: 2 }, 1)]
    for (const shape of ['now', 'by id', 'in order']) {
      const served = await serveGraph({ make: payer([calls, ['Done.']]) })
      const client = makeClient({ url: served.url })
      client.addMessage({ id: 'u1', role: 'user', content: 'Pay' })
      await client.runAgent()
      const questions = client.pendingInterrupts
      expect(questions.map(({ toolCallId }) => toolCallId)).toEqual(['c1', 'c2'])
      const payload = { type: 'approve' }
      if (shape !== 'now') {
        const byId = Object.fromEntries(questions.map(({ id }) => [id, payload]))
        const resume = shape === 'by id' ? byId : { decisions: questions.map(() => payload) }
        const rest = { threadId: 'thread-1', runId: 'r2', state: {}, tools: [], context: [] }
        const forwardedProps = { command: { resume } }
        await served.stream('/run', { body: { ...rest, messages: client.messages, forwardedProps } })
      } else {
        const resolved = { status: 'resolved' as const, payload }
        await client.runAgent({ resume: questions.map(({ id }) => ({ interruptId: id, ...resolved })) })
      }
      expect(paid).toEqual([1, 2])
    }
  })
})
