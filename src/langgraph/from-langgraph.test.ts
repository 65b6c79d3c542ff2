import type { Tool as ToolInfo } from '@ag-ui/core'
import { tool } from '@langchain/core/tools'
import {
  Annotation,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callPieces, FakeModel, type ModelStep } from '../../test/support/langgraph/fake-model.js'
import { createClient, idOf, interruptsOf, ofType, resultsIn } from '../../test/support/run-agent.js'
import { fromLangGraph } from './from-langgraph.js'

const State = Annotation.Root({ ...MessagesAnnotation.spec, city: Annotation<string> })

const weather = tool(({ city }) => `It rains in ${city}.`, {
  name: 'weather',
  description: 'The weather.',
  schema: z.object({ city: z.string() }),
})

function assistant(steps: readonly ModelStep[], checkpointer?: MemorySaver) {
  const model = new FakeModel(steps)
  const graph = new StateGraph(State)
    .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('tools', new ToolNode([weather]))
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', toolsCondition)
    .addEdge('tools', 'agent')
    .compile(checkpointer ? { checkpointer } : {})
  return { model, agent: fromLangGraph(graph, { name: 'helper' }) }
}

describe.each([
  ['a checkpointer', () => new MemorySaver()],
  ['no checkpointer', () => undefined],
])('a graph with %s', (_, saver) => {
  it('streams texts, calls and results, and keeps the conversation', async () => {
    const { model, agent } = assistant(
      [['Let me see', ...callPieces('c1', 'weather', { city: 'Oslo' })], ['It ', 'rains.'], ['Still.']],
      saver(),
    )
    const client = createClient(agent)
    const first = await client.say('Weather in Oslo?')
    expect(ofType(first.events, 'TOOL_CALL_START')).toMatchObject([
      { toolCallId: 'c1', toolCallName: 'weather' },
    ])
    expect(resultsIn(first.events)).toEqual(['c1: It rains in Oslo.'])
    expect(first.outcome).toMatchObject({ type: 'completed', text: 'It rains.' })
    expect(ofType(first.events, 'STEP_STARTED').map(({ stepName }) => stepName)).toEqual([
      'agent',
      'tools',
      'agent',
    ])
    await client.say('And now?')
    expect(model.calls[2]?.map((message) => [message.type, message.text])).toEqual([
      ['human', 'Weather in Oslo?'],
      ['ai', 'Let me see'],
      ['tool', 'It rains in Oslo.'],
      ['ai', 'It rains.'],
      ['human', 'And now?'],
    ])
  })
})

describe('a question', () => {
  function approving(checkpointer: MemorySaver) {
    const graph = new StateGraph(State)
      .addNode('ask', () => {
        const answer = interrupt<unknown, { ok: boolean }>({ message: 'Go on?', reason: 'confirmation' })
        return { messages: [{ role: 'assistant', content: answer.ok ? 'Done.' : 'Left.' }] }
      })
      .addEdge(START, 'ask')
      .compile({ checkpointer })
    return fromLangGraph(graph, { name: 'asker' })
  }

  it('stops the run, and the graph goes on with the answer', async () => {
    const client = createClient(approving(new MemorySaver()))
    const asked = await client.say('Do it')
    expect(interruptsOf(asked)).toMatchObject([{ reason: 'confirmation', message: 'Go on?' }])
    const { outcome } = await client.answer({ [idOf(asked)]: { ok: true } })
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' })
  })
})

describe('the state', () => {
  it('is shared without messages, and the client can change it', async () => {
    const seen: string[] = []
    const graph = new StateGraph(State)
      .addNode('move', ({ city }) => {
        seen.push(city)
        return { city: `${city}!` }
      })
      .addEdge(START, 'move')
      .compile({ checkpointer: new MemorySaver() })
    const client = createClient(fromLangGraph(graph, { name: 'mover' }))
    const { outcome } = await client.send({
      messages: [{ id: 'u1', role: 'user', content: 'Go' }],
      state: { city: 'Oslo', own: 1 },
    })
    expect(outcome.state).toEqual({ city: 'Oslo!', own: 1 })
    expect(seen).toEqual(['Oslo'])
  })
})

describe('a client tool', () => {
  const pick: ToolInfo = {
    name: 'pick',
    description: 'Picks.',
    parameters: { type: 'object', properties: {} },
  }

  it('is left to the client, and its result goes to the model', async () => {
    const model = new FakeModel([callPieces('c1', 'pick', {}), ['Red.']])
    const graph = new StateGraph(State)
      .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, 'agent')
      .compile({ checkpointer: new MemorySaver() })
    const client = createClient(fromLangGraph(graph, { name: 'picker' }), [pick])
    const { outcome } = await client.say('Pick one')
    expect(outcome).toMatchObject({ type: 'completed', pendingToolCalls: [{ id: 'c1' }] })
    const second = await client.send({
      messages: [...client.messages, { id: 't1', role: 'tool', toolCallId: 'c1', content: 'red' }],
    })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Red.' })
    expect(model.calls[1]?.map((message) => message.type)).toEqual(['human', 'ai', 'tool'])
  })
})
