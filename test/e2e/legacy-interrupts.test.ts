import { FunctionTool, LlmAgent } from '@google/adk'
import { tool } from '@langchain/core/tools'
import {
  Annotation,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { createAgent, humanInTheLoopMiddleware, type AgentMiddleware } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { defineAgent, defineTool, type Agent } from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { toAgUi } from '../../src/remote/index.js'
import { callsTool, says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { callChunks } from '../support/langgraph/fake-model.js'
import { agentModel } from '../support/langgraph/serve-graph.js'
import { ofType, resultsIn } from '../support/run-agent.js'
import { serveAgents } from '../support/serve-agents.js'
import { eventsTo, newClient, oldClient } from './support-clients.js'

/** What a page of CopilotKit's `useLangGraphInterrupt`, or of the LangGraph adapter, is shown. */
const shownTo = (events: readonly AgUiEvent[]): unknown[] =>
  ofType(events, 'CUSTOM')
    .filter(({ name }) => name === 'on_interrupt')
    .map(({ value }): unknown => value)

const answered = (resume: unknown, interruptEvent?: unknown) => ({
  forwardedProps: { command: { resume, interruptEvent } },
})

const question = { kind: 'route', options: ['sea', 'air'] }

function routeGraph(value: unknown = question): Agent {
  const State = Annotation.Root({ ...MessagesAnnotation.spec })
  const graph = new StateGraph(State)
    .addNode('ask', () => ({ messages: [{ role: 'ai', content: `By ${String(interrupt(value))}.` }] }))
    .addEdge(START, 'ask')
    .compile({ checkpointer: new MemorySaver() })
  return fromLangGraph(graph, { name: 'router' })
}

function reviewGraph(paid: number[]): Agent {
  const pay = tool(({ amount }) => (paid.push(amount), `paid ${amount}`), {
    ...{ name: 'pay', description: 'Pays.', schema: z.object({ amount: z.number() }) },
  })
  const calls = [...callChunks('c1', 'pay', { amount: 1 }, 0), ...callChunks('c2', 'pay', { amount: 2 }, 1)]
  // Its own type does not fit `exactOptionalPropertyTypes`.
  const reviewing = humanInTheLoopMiddleware as unknown as (options: object) => AgentMiddleware
  const middleware = [reviewing({ interruptOn: { pay: true } })]
  const model = agentModel([calls, ['Done.']])
  const agent = createAgent({ model, tools: [pay], middleware, checkpointer: new MemorySaver() })
  return fromLangGraph(agent.graph, { name: 'payer' })
}

const work = { name: 'work', description: 'Works.' }

function kitAgent(): Agent {
  const model = scriptedModel([[{ toolCall: { id: 'c1', name: 'work' } }], 'Done.'])
  const asks = defineTool({
    ...work,
    execute: async (_, ctx) =>
      JSON.stringify(
        await ctx.interrupt({ message: 'Work?', responseSchema: z.object({ approved: z.boolean() }) }),
      ),
  })
  return defineAgent({ name: 'kit', model, tools: [asks] })
}

function adkAgent(): Agent {
  const tools = [
    new FunctionTool({
      ...work,
      parameters: z.object({}),
      requireConfirmation: true,
      execute: () => 'worked',
    }),
  ]
  const model = new ScriptedLlm([callsTool({ name: 'work' }), says('Done.')])
  return fromAdk(new LlmAgent({ name: 'adk', model, tools }))
}

async function asking(agent: Agent) {
  const { url } = await serveAgents({ agents: [agent] })
  const client = oldClient({ url })
  const events = eventsTo(client)
  client.addMessage({ id: 'u1', role: 'user', content: 'Go' })
  await client.runAgent()
  return { url, client, events }
}

describe('a page from before 1.0', () => {
  it('is shown the raw value of a graph in place of the outcome: in the run, on connect and when asked again', async () => {
    const { url, client, events } = await asking(routeGraph())
    expect(shownTo(events)).toEqual([question])
    expect(client.pendingInterrupts).toEqual([])
    const reloaded = oldClient({ url })
    const replayed = eventsTo(reloaded)
    await reloaded.connectAgent()
    expect(shownTo(replayed)).toEqual([question])
    const other = oldClient({ url })
    const again = eventsTo(other)
    other.addMessage({ id: 'u2', role: 'user', content: 'Hello?' })
    await other.runAgent()
    expect(shownTo(again)).toEqual([question])
  })

  it('answers the way it used to, as a value or as JSON', async () => {
    for (const resume of ['sea', '["air"]']) {
      const { client: page } = await asking(routeGraph())
      await page.runAgent(answered(resume, question))
      expect(page.messages.at(-1)?.content).toBe(resume === 'sea' ? 'By sea.' : 'By air.')
    }
  })

  it('is shown a review of several actions as one, and decides on all of them', async () => {
    const paid: number[] = []
    const { client: page, events } = await asking(reviewGraph(paid))
    const [review, ...others] = shownTo(events)
    expect(others).toEqual([])
    expect(review).toMatchObject({
      actionRequests: [
        { name: 'pay', args: { amount: 1 } },
        { name: 'pay', args: { amount: 2 } },
      ],
    })
    await page.runAgent(answered({ decisions: [{ type: 'approve' }, { type: 'approve' }] }, review))
    expect(paid).toEqual([1, 2])
  })

  it('is shown the outcome beside the value of a graph that speaks as AG-UI does', async () => {
    const { client, events } = await asking(routeGraph({ reason: 'route', message: 'How?' }))
    expect(shownTo(events)).toEqual([{ reason: 'route', message: 'How?' }])
    expect(client.pendingInterrupts).toMatchObject([{ reason: 'route', message: 'How?' }])
    // Such a client insists on `resume`.
    await expect(client.runAgent(answered('sea'))).rejects.toThrow('not addressed by resume')
    const [{ id: interruptId } = { id: '' }] = client.pendingInterrupts
    await client.runAgent({ resume: [{ interruptId, status: 'resolved', payload: 'sea' }] })
    expect(client.messages.at(-1)?.content).toBe('By sea.')
  })

  it.each([
    ['the kit', kitAgent, { approved: true }],
    ['ADK', adkAgent, { confirmed: true }],
  ])('is shown the interrupt itself by %s, and answers it', async (_, make, payload) => {
    const { url, client, events } = await asking(make())
    expect(shownTo(events)).toEqual([...client.pendingInterrupts])
    const page = oldClient({ url })
    page.setMessages(client.messages)
    const rest = eventsTo(page)
    await page.runAgent(answered(payload))
    expect(resultsIn(rest)).toHaveLength(1)
    expect(page.messages.at(-1)?.content).toBe('Done.')
  })

  it('is served alike by an agent in this process', async () => {
    const agent = toAgUi(kitAgent(), { clients: '0.0.59' })
    const events = eventsTo(agent)
    agent.addMessage({ id: 'u1', role: 'user', content: 'Go' })
    await agent.runAgent()
    expect(shownTo(events)).toEqual([...agent.pendingInterrupts])
    const page = agent.clone() as typeof agent
    page.pendingInterrupts = []
    await page.runAgent(answered({ approved: true }))
    expect(page.messages.at(-1)?.content).toBe('Done.')
  })
})

it('a client of 1.0 is not shown interrupts twice', async () => {
  const { url } = await serveAgents({ agents: [routeGraph()] })
  const client = newClient({ url })
  const events = eventsTo(client)
  client.addMessage({ id: 'u1', role: 'user', content: 'Go' })
  await client.runAgent()
  expect(shownTo(events)).toEqual([])
  expect(client.pendingInterrupts).toHaveLength(1)
})
