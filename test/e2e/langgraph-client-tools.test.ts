import type { AIMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { MessagesAnnotation, Send, START, StateGraph, type BaseCheckpointSaver } from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { clientTools, getClientTools } from '../../src/langgraph/tools/client-tools.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { callPieces, type ModelStep } from '../support/langgraph/fake-model.js'
import {
  agentModel,
  asked,
  clientTool,
  historyOf,
  serveGraph,
  textIn,
  type ServeGraphOptions,
} from '../support/langgraph/serve-graph.js'
import { ofType, resultsIn } from '../support/run-agent.js'
import { clientVersions } from '../support/serve-agents.js'

const looked: string[] = []
const look = tool(
  ({ what }) => {
    looked.push(what)
    return `found ${what}`
  },
  { name: 'look', description: 'Looks.', schema: z.object({ what: z.string() }) },
)
const tools = [clientTool('pick'), clientTool('draw')]
const both = [...callPieces('c1', 'pick', { n: 1 }, 0), ...callPieces('c2', 'draw', { n: 2 }, 1)]
const answeredBoth = ['human: Go', 'ai: pick({"n":1}) draw({"n":2})', 'tool: red', 'tool: done']

type Graph = Parameters<typeof fromLangGraph>[0]
type Model = ReturnType<typeof agentModel>
type MakeGraph = (model: Model, checkpointer: BaseCheckpointSaver) => unknown

const kinds: Readonly<Record<string, MakeGraph>> = {
  'createAgent with clientTools()': (model, checkpointer) =>
    createAgent({ model, tools: [look], checkpointer, middleware: [clientTools()] }).graph,
  'createAgent with clientTools({ keepPosition })': (model, checkpointer) =>
    createAgent({ model, tools: [look], checkpointer, middleware: [clientTools({ keepPosition: true })] })
      .graph,
  'a graph with a ToolNode of client tools': (model, checkpointer) =>
    new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode('tools', (state, config) =>
        new ToolNode([look, ...getClientTools(config)]).invoke(state, config),
      )
      .addEdge(START, 'agent')
      .addConditionalEdges('agent', toolsCondition)
      .addEdge('tools', 'agent')
      .compile({ checkpointer }),
  'a graph that sends each call to the tools by itself': (model, checkpointer) =>
    new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode('tools', (state, config) =>
        new ToolNode([look, ...getClientTools(config)]).invoke(state, config),
      )
      .addEdge(START, 'agent')
      .addConditionalEdges('agent', ({ messages }) => {
        const { tool_calls: calls = [] } = messages.at(-1) as AIMessage
        return calls.map((call) => new Send('tools', { messages, lg_tool_call: call }))
      })
      .addEdge('tools', 'agent')
      .compile({ checkpointer }),
}

async function serveTools(
  kind: MakeGraph,
  steps: readonly ModelStep[],
  options: Partial<ServeGraphOptions> = {},
) {
  looked.length = 0
  const model = agentModel(steps)
  const make = (checkpointer: BaseCheckpointSaver) =>
    fromLangGraph(kind(model, checkpointer) as Graph, { name: 'helper' })
  return { model, served: await serveGraph({ make, ...options }) }
}

const pendingIn = (events: Parameters<typeof textIn>[0]): unknown => {
  const last = events.at(-1)
  return last?.type === 'RUN_FINISHED' ? last.outcome : last
}

describe.each(Object.entries(kinds))('%s', (kindName, kind) => {
  describe.each(clientVersions)('with the client $version', ({ version, Client }) => {
    it('calls are left to the client, and answered together', async () => {
      const { model, served } = await serveTools(kind, [both, ['Nice.']])
      const talk = served.talk({ Client })
      const events = await talk.say('Go', { tools })
      expect(ofType(events, 'TOOL_CALL_START').map(({ toolCallId }) => toolCallId)).toEqual(['c1', 'c2'])
      expect(resultsIn(events)).toEqual([])
      if (version === '1.0')
        expect(pendingIn(events)).toMatchObject({ type: 'success', pendingToolCallIds: ['c1', 'c2'] })
      expect(textIn(await talk.answer({ c1: 'red', c2: 'done' }, { tools }))).toBe('Nice.')
      expect(asked(model.calls[1])).toEqual(answeredBoth)
      expect(await historyOf(served)).toEqual(talk.client.messages)
    })
  })

  // A node that asks for one result after the other does not say what it will ask for next.
  const stores = kindName.includes('ToolNode') ? (['sqlite'] as const) : (['sqlite', 'memory'] as const)
  it.each(stores)('answered one by one, over restarts, threads in %s', async (store) => {
    const { model, served } = await serveTools(kind, [both, ['Nice.'], ['Bye.']], {
      store,
      checkpoints: 'sqlite',
    })
    const talk = served.talk()
    await talk.say('Go', { tools })
    const second = await served.restart()
    const next = second.talk()
    next.client.setMessages(talk.client.messages)
    await next.answer({ c2: 'done' }, { tools })
    expect(model.calls).toHaveLength(1)
    const third = (await second.restart()).talk()
    third.client.setMessages(next.client.messages)
    expect(textIn(await third.answer({ c1: 'red' }, { tools }))).toBe('Nice.')
    expect(asked(model.calls[1]).slice(0, 2)).toEqual(answeredBoth.slice(0, 2))
    expect(asked(model.calls[1]).slice(2).toSorted()).toEqual(['tool: done', 'tool: red'])
    expect(textIn(await third.say('Bye', { tools }))).toBe('Bye.')
  })

  it('a call beside one of the agent’s own tools waits until that has run', async () => {
    const { model, served } = await serveTools(kind, [
      [...callPieces('c1', 'look', { what: 'x' }, 0), ...callPieces('c2', 'pick', {}, 1)],
      ['Good.'],
    ])
    const talk = served.talk()
    const events = await talk.say('Go', { tools })
    expect([looked, resultsIn(events), model.calls.length]).toEqual([['x'], ['c1: found x'], 1])
    expect(textIn(await talk.answer({ c2: 'red' }, { tools }))).toBe('Good.')
    expect(asked(model.calls[1]).toSorted()).toEqual(
      ['human: Go', 'ai: look({"what":"x"}) pick({})', 'tool: found x', 'tool: red'].toSorted(),
    )
    // LangGraph runs a whole node again that has asked.
    expect(looked).toEqual(kindName.includes('ToolNode') ? ['x', 'x'] : ['x'])
  })

  it('a call that is never answered is in nobody’s way', async () => {
    const { model, served } = await serveTools(kind, [both, ['All right.'], ['Bye.']])
    const talk = served.talk()
    await talk.say('Go', { tools })
    expect(textIn(await talk.say('Forget it', { tools }))).toBe('All right.')
    expect(asked(model.calls[1]).map((line) => line.split(':')[0])).toEqual([
      'human',
      'ai',
      'tool',
      'tool',
      'human',
    ])
    expect(textIn(await talk.say('Bye', { tools }))).toBe('Bye.')
  })

  it('a result that comes after another message is told to the model, once', async () => {
    const { model, served } = await serveTools(kind, [
      callPieces('c1', 'pick', {}),
      ['Then not.'],
      ['Ah.'],
      ['Bye.'],
    ])
    const talk = served.talk()
    await talk.say('Go', { tools })
    await talk.say('Never mind', { tools })
    await talk.answer({ c1: 'red' }, { tools })
    await talk.say('Bye', { tools })
    expect(JSON.stringify(asked(model.calls.at(-1))).match(/tool: red/g)).toHaveLength(1)
  })
})
