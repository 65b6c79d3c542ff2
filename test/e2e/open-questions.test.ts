import { FunctionTool, LlmAgent } from '@google/adk'
import { interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { clientTools as adkClientTools, fromAdk } from '../../src/adk/index.js'
import { defineAgent, defineTool, type Agent } from '../../src/index.js'
import { clientTools, fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { callsTool, says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { clientTool, interruptsIn } from '../support/adk/serve-adk.js'
import { callChunks } from '../support/langgraph/fake-model.js'
import { agentModel } from '../support/langgraph/serve-graph.js'
import { deferred } from '../support/run-agent.js'
import { serveAgents, type ServedAgents } from '../support/serve-agents.js'

/** `message_snapshot` says which questions are open, so that a page that loads a thread can show them. */

const book = { name: 'book', description: 'Books a table.' }

/** Agents that ask before they do what they are told. */
const asking: Readonly<Record<string, () => Agent>> = {
  kit: () =>
    defineAgent({
      name: 'kit',
      model: scriptedModel((_, index) =>
        index === 0 ? [{ toolCall: { id: 'c1', name: 'book' } }] : 'Done.',
      ),
      tools: [
        defineTool({
          ...book,
          execute: async (_, ctx) => (await ctx.interrupt({ message: 'Book?' })).status,
        }),
      ],
    }),
  ADK: () =>
    fromAdk(
      new LlmAgent({
        name: 'adk',
        model: new ScriptedLlm([callsTool({ name: 'book' }), says('Done.')]),
        tools: [
          new FunctionTool({
            ...book,
            parameters: z.object({}),
            requireConfirmation: true,
            execute: () => 'ok',
          }),
        ],
      }),
    ),
  LangGraph: () =>
    fromLangGraph(
      new StateGraph(MessagesAnnotation)
        .addNode('ask', () => (interrupt({ message: 'Book?' }), {}))
        .addEdge(START, 'ask')
        .compile({ checkpointer: new MemorySaver() }),
      { name: 'graph' },
    ),
}

/** Agents that call the tool `paint` of the page. */
const calling: Readonly<Record<string, () => Agent>> = {
  kit: () =>
    defineAgent({
      name: 'kit',
      model: scriptedModel((_, index) =>
        index === 0 ? [{ toolCall: { id: 'c1', name: 'paint' } }] : 'Done.',
      ),
    }),
  ADK: () =>
    fromAdk(
      new LlmAgent({
        name: 'adk',
        model: new ScriptedLlm([callsTool({ name: 'paint' }), says('Done.')]),
        tools: [adkClientTools()],
      }),
    ),
  LangGraph: () =>
    fromLangGraph(
      createAgent({
        model: agentModel([[...callChunks('c1', 'paint', {})], ['Done.']]),
        tools: [],
        checkpointer: new MemorySaver(),
        middleware: [clientTools()],
      }).graph,
      { name: 'graph' },
    ),
}

async function openIn({ ask }: ServedAgents) {
  const { status, body } = await ask('GET /message_snapshot/thread-1')
  expect(status).toBe(200)
  const { interrupts, pendingToolCalls } = body as Record<string, readonly { readonly id: string }[]>
  return { interrupts, pendingToolCalls }
}

const nothing = { interrupts: [], pendingToolCalls: [] }

describe.each(['memory', 'sqlite'] as const)('the history of a thread, stored in %s', (store) => {
  it.each(Object.entries(asking))('has the open interrupts, until they are answered: %s', async (_, make) => {
    let served = await serveAgents({ agents: [make()], store })
    const talk = served.talk()
    const asked = interruptsIn(await talk.say('Book.'))
    expect(asked).toHaveLength(1)
    if (store === 'sqlite') served = await served.restart()
    expect(await openIn(served)).toEqual({ interrupts: asked, pendingToolCalls: [] })
    const again = served.talk()
    again.client.setMessages(talk.client.messages)
    const payload = { approved: true, confirmed: true }
    const resume = asked.map(({ id }) => ({ interruptId: id, status: 'resolved' as const, payload }))
    expect((await again.send({ resume })).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    expect(await openIn(served)).toEqual(nothing)
  })

  it.each(Object.entries(calling))('has the calls that the client has not made yet: %s', async (_, make) => {
    let served = await serveAgents({ agents: [make()], store })
    const tools = [clientTool('paint')]
    const talk = served.talk()
    await talk.say('Paint.', { tools })
    if (store === 'sqlite') served = await served.restart()
    const { pendingToolCalls = [], interrupts } = await openIn(served)
    const [call] = pendingToolCalls
    expect({ pendingToolCalls, interrupts }).toEqual({
      interrupts: [],
      pendingToolCalls: [{ id: call?.id, name: 'paint', timestamp: expect.any(Number) as number }],
    })
    const again = served.talk()
    again.client.setMessages(talk.client.messages)
    expect((await again.answer({ [call?.id ?? '']: 'pink' }, { tools })).at(-1)).toMatchObject({
      type: 'RUN_FINISHED',
    })
    expect(await openIn(served)).toEqual(nothing)
  })
})

it('a question that a live run answers is not open', async () => {
  const [begun, letGo] = [deferred(), deferred()]
  const tool = defineTool({
    ...book,
    async execute(_, ctx) {
      const { status } = await ctx.interrupt({ message: 'Book?' })
      begun.resolve()
      await letGo.promise
      return status
    },
  })
  const model = scriptedModel((_, index) =>
    index === 0 ? [{ toolCall: { id: 'c1', name: 'book' } }] : 'Done.',
  )
  const served = await serveAgents({ agents: [defineAgent({ name: 'kit', model, tools: [tool] })] })
  const talk = served.talk()
  const [question] = interruptsIn(await talk.say('Book.'))
  const running = talk.send({
    resume: [{ interruptId: question?.id ?? '', status: 'resolved', payload: true }],
  })
  await begun.promise
  expect(await openIn(served)).toEqual(nothing)
  letGo.resolve()
  await running
})
