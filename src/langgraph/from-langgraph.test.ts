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
import { callChunks, FakeModel, type ModelStep } from '../../test/support/langgraph/fake-model.js'
import { promptText } from '../../test/support/langgraph/serve-graph.js'
import { createClient, idOf, interruptsOf, ofType, play, resultsIn } from '../../test/support/run-agent.js'
import { userMessage, type Agent, type Control, type Interrupted, type RunContext } from '../agents/index.js'
import { merge } from '../core/merge.js'
import type { AgentEvent } from '../protocol/index.js'
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
      [['Let me see', ...callChunks('c1', 'weather', { city: 'Oslo' })], ['It ', 'rains.'], ['Still.']],
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

describe('an interrupt', () => {
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
    const model = new FakeModel([callChunks('c1', 'pick', {}), ['Red.']])
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

describe('below another agent', () => {
  /** Runs one agent in several lanes beside each other. */
  function lanesOf(agent: Agent, count: number): Agent {
    async function* run(ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
      const { clock, graceMs } = ctx.services
      const lanes = Array.from(
        { length: count },
        (_, n) => (signal: AbortSignal) => ctx.delegate(agent, { segment: `${n}`, isLane: true, signal }),
      )
      const merged = merge(lanes, { signal: ctx.signal, clock, graceMs, onStrayError: () => undefined })
      let step = await merged.next()
      for (; step.done !== true; step = await merged.next()) yield step.value.value
      const ended = step.value
      const asking = ended.filter((control): control is Interrupted => control.type === 'interrupted')
      if (asking.length === 0) return { type: 'done' }
      return {
        type: 'interrupted',
        openInterrupts: asking.flatMap(({ openInterrupts }) => openInterrupts),
        frames: Object.assign({}, ...asking.map(({ frames }) => frames)) as Interrupted['frames'],
      }
    }
    return { name: 'root', description: '', run }
  }

  const chat = (model: FakeModel, checkpointer: MemorySaver) =>
    new StateGraph(MessagesAnnotation)
      .addNode('talk', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, 'talk')
      .compile({ checkpointer })

  it('two lanes of one graph each have a thread of their own, and go on in it with the next run', async () => {
    const model = new FakeModel([['A.'], ['B.'], ['C.'], ['D.']])
    const checkpointer = new MemorySaver()
    const client = createClient(lanesOf(fromLangGraph(chat(model, checkpointer), { name: 'expert' }), 2))
    await client.say('First')
    expect(model.calls.map(promptText)).toEqual([['human: First'], ['human: First']])
    expect(Object.keys(checkpointer.storage)).toHaveLength(2)
    const { outcome } = await client.say('Second')
    expect(outcome.type).toBe('completed')
    expect(Object.keys(checkpointer.storage)).toHaveLength(2)
    const [one, other] = model.calls.slice(2).map(promptText)
    // The messages of the other lane are known by now.
    expect(one).toEqual(['human: First', 'ai: A.', 'ai: B.', 'human: Second'])
    expect(other).toEqual(['human: First', 'ai: B.', 'ai: A.', 'human: Second'])
  })

  it('a child that is called in turn goes on in its own thread, and hears the others', async () => {
    const [first, second] = [new FakeModel([['A.'], ['C.']]), new FakeModel([['B.'], ['D.']])]
    const checkpointer = new MemorySaver()
    const children = [
      fromLangGraph(chat(first, checkpointer), { name: 'first' }),
      fromLangGraph(chat(second, checkpointer), { name: 'second' }),
    ]
    async function* run(ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
      for (const child of children) yield* ctx.delegate(child, { segment: 'turn' })
      return { type: 'done' }
    }
    const client = createClient({ name: 'root', description: '', run })
    await client.say('One')
    await client.say('Two')
    expect(promptText(first.calls[1])).toEqual([
      'human: One',
      'ai: A.',
      'human: For context: [second] said: B.',
      'human: Two',
    ])
    expect(promptText(second.calls[1])).toEqual([
      'human: One',
      'human: For context: [first] said: A.',
      'ai: B.',
      'human: Two',
      'human: For context: [first] said: C.',
    ])
  })

  it('interrupts of two lanes of one graph are answered each in its own', async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('ask', () => ({
        messages: [{ role: 'assistant', content: `Got ${interrupt<string, string>('Well?')}.` }],
      }))
      .addEdge(START, 'ask')
      .compile({ checkpointer: new MemorySaver() })
    const client = createClient(lanesOf(fromLangGraph(graph, { name: 'expert' }), 2))
    const played = await client.say('Go')
    const questions = interruptsOf(played)
    expect(questions.map(({ message }) => message)).toEqual(['Well?', 'Well?'])
    const [one, other] = questions.map(({ id }) => id)
    expect(one).not.toBe(other)
    const half = await client.answer({ [one ?? '']: 'x' })
    expect(idOf(half)).toBe(other)
    const last = await client.answer({ [other ?? '']: 'y' })
    const said = [...half.events, ...last.events]
    expect(ofType(said, 'TEXT_MESSAGE_CONTENT').map(({ delta }) => delta)).toEqual(['Got x.', 'Got y.'])
  })
})

describe('private keys in a run without a server', () => {
  const seen: (string | undefined)[] = []
  const graph = new StateGraph(State)
    .addNode('look', ({ city }) => {
      seen.push(city)
      return { city: 'Oslo', messages: [{ role: 'assistant', content: 'Seen.' }] }
    })
    .addEdge(START, 'look')
    .compile()
  const agent = fromLangGraph(graph, { name: 'spy', privateKeys: ['city'] })
  const request = { messages: [userMessage('Look.')], state: { city: 'Rome', own: 1 } }

  it('stay in the graph', async () => {
    const { events, outcome } = await play(agent, request)
    expect(seen.splice(0)).toEqual([undefined])
    expect(outcome.state).toEqual({ own: 1 })
    expect(JSON.stringify(events)).not.toContain('Oslo')
  })

  it('are shared when the owner of the run keeps them from clients', async () => {
    const { outcome } = await play(agent, request, { isPrivateKey: (key) => key === 'city' })
    expect(seen.splice(0)).toEqual(['Rome'])
    expect(outcome.state).toEqual({ city: 'Oslo', own: 1 })
  })
})
