import type { Message, Tool } from '@ag-ui/core'
import type { BaseMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import {
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type CompiledStateGraph,
} from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callChunks, FakeModel, type ModelStep } from '../../../test/support/langgraph/fake-model.js'
import { toResumableInterrupts } from '../interrupts/to-interrupts.js'
import { clientToolAnswers, planGraphResume } from '../interrupts/resume.js'
import { savedState, storedMessages } from '../checkpoints/checkpoints.js'
import { storedInterrupts } from '../checkpoints/stored-interrupts.js'
import type { CheckpointedGraph } from '../contract.js'
import { prepareGraphInput } from '../input/prepare-input.js'
import { pairResults, unansweredCalls } from '../messages/pair-results.js'
import { readGraphMessages, toAgui } from '../messages/to-agui.js'
import { endsSoon } from '../../../test/support/ends-soon.js'
import { clientTools, getClientTools } from './client-tools.js'
import { withClientExtras } from './client-extras.js'

const offered: Tool[] = [
  {
    name: 'pick',
    description: 'Picks a colour',
    parameters: { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] },
  },
]
const look = tool(({ q }) => `saw ${q}`, {
  name: 'look',
  description: 'Looks',
  schema: z.object({ q: z.string() }),
})
const user = (id: string): Message => ({ id, role: 'user', content: id })
const result = (toolCallId: string, content: string): Message => ({
  id: `client-${toolCallId}`,
  role: 'tool',
  toolCallId,
  content,
})
const names = (tools: readonly unknown[] = []) => tools.map((one) => (one as { name?: string }).name)

function agentModel(steps: readonly ModelStep[]): { model: FakeModel; bound: unknown[][] } {
  const model = new FakeModel(steps)
  return { model, bound: model.offered }
}

type AnyGraph = CheckpointedGraph & Pick<CompiledStateGraph<unknown, unknown>, 'invoke'>

const pendingCalls = (messages: unknown) =>
  unansweredCalls(pairResults(readGraphMessages(messages).map(({ message }) => message)))

function converse(compiled: unknown) {
  const graph = compiled as AnyGraph
  const config = { configurable: withClientExtras({ thread_id: 't' }, { tools: offered, context: [] }) }
  const isClientTool = (name: string) => name === 'pick'
  const stored = async () => storedMessages(await savedState(graph, config))
  return {
    graph,
    config,
    thread: async () => toAgui(await stored()),
    pending: async () =>
      pendingCalls(await stored())
        .filter(({ name }) => isClientTool(name))
        .map(({ id }) => id),
    open: async () => {
      const waiting = await storedInterrupts(graph.checkpointer as MemorySaver, config)
      return toResumableInterrupts(waiting)
    },
    run: async (messages: Message[]): Promise<unknown> => {
      const prepared = await prepareGraphInput(graph, config, { messages, isClientTool })
      if (prepared.type === 'wait') return prepared
      const input = prepared.messages ? { messages: [...prepared.messages] as BaseMessage[] } : null
      await graph.invoke(input, prepared.config)
      return undefined
    },
  }
}

const roles = (messages: readonly Message[]) =>
  messages.map((one) =>
    one.role === 'tool'
      ? `${one.toolCallId}=${JSON.stringify(one.content).slice(1, -1)}`
      : `${one.role} ${one.id}`,
  )

describe('clientTools', () => {
  it('offers the tools of the client, and ends the turn when one is called', async () => {
    const { model, bound } = agentModel([callChunks('c1', 'pick', { of: 'two' }), ['Red it is']])
    const { run, pending, thread } = converse(
      createAgent({ model, tools: [look], middleware: [clientTools()], checkpointer: new MemorySaver() })
        .graph,
    )
    await run([user('u1')])
    expect(names(bound[0])).toEqual(['look', 'pick'])
    expect(await pending()).toEqual(['c1'])
    expect(model.calls).toHaveLength(1)
    await run([...(await thread()), result('c1', 'Red')])
    expect(await pending()).toEqual([])
    expect(model.calls[1]?.map(({ type, text }) => [type, text])).toEqual([
      ['human', 'u1'],
      ['ai', ''],
      ['tool', 'Red'],
    ])
    expect((await thread()).find(({ role }) => role === 'tool')?.id).toBe('client-c1')
  })

  it('runs the agent’s own tools first, and waits for all results', async () => {
    const calls = [
      ...callChunks('c1', 'pick', { of: 'a' }),
      ...callChunks('c2', 'look', { q: 'b' }, 1),
      ...callChunks('c3', 'pick', { of: 'c' }, 2),
    ]
    const { model } = agentModel([calls, ['Done']])
    const { run, pending, thread } = converse(
      createAgent({ model, tools: [look], middleware: [clientTools()], checkpointer: new MemorySaver() })
        .graph,
    )
    await run([user('u1')])
    expect(await pending()).toEqual(['c1', 'c3'])
    expect(roles(await thread()).slice(2)).toEqual(['c2=saw b'])
    const half = [...(await thread()), result('c3', 'C')]
    expect(await run(half)).toEqual({ type: 'wait', toolCallIds: ['c1'] })
    await run([...half, result('c1', 'A')])
    expect(roles(await thread()).slice(2, 5)).toEqual(['c2=saw b', 'c3=C', 'c1=A'])
    expect(model.calls).toHaveLength(2)
  })

  it('works for an agent without tools of its own and without a memory', async () => {
    const { model } = agentModel([callChunks('c1', 'pick', { of: 'two' })])
    const { graph, config } = converse(createAgent({ model, tools: [], middleware: [clientTools()] }).graph)
    const { messages } = (await graph.invoke({ messages: [{ role: 'user', content: 'Hi' }] }, config)) as {
      messages: unknown
    }
    expect(pendingCalls(messages)).toEqual([{ id: 'c1', name: 'pick' }])
  })

  it('lets the agent’s own tool win over one of the same name', async () => {
    const own = tool(() => 'mine', {
      name: 'pick',
      description: 'Mine',
      schema: z.object({ of: z.string() }),
    })
    const { model, bound } = agentModel([callChunks('c1', 'pick', { of: 'two' }), ['Done']])
    const { run, thread } = converse(
      createAgent({ model, tools: [own], middleware: [clientTools()], checkpointer: new MemorySaver() })
        .graph,
    )
    await run([user('u1')])
    expect(names(bound[0])).toEqual(['pick'])
    expect(roles(await thread())[2]).toBe('c1=mine')
  })

  it('can keep the position of the graph: a result answers its interrupt', async () => {
    const calls = [...callChunks('c1', 'pick', { of: 'a' }), ...callChunks('c2', 'look', { q: 'b' }, 1)]
    const { model } = agentModel([calls, ['Done']])
    const middleware = [clientTools({ keepPosition: true })]
    const { run, open, thread, graph, config } = converse(
      createAgent({ model, tools: [look], middleware, checkpointer: new MemorySaver() }).graph,
    )
    await run([user('u1')])
    const questions = await open()
    expect(questions).toMatchObject([{ clientCallId: 'c1', interrupt: { toolCallId: 'c1' } }])
    const resume = planGraphResume(
      questions,
      clientToolAnswers(questions, [...(await thread()), result('c1', 'A')]),
    )
    if (resume.type !== 'resume') throw new Error('It is not resumed.')
    await graph.invoke(resume.input as never, config)
    expect(
      roles(await thread())
        .slice(2, 4)
        .toSorted(),
    ).toEqual(['c1=A', 'c2=saw b'])
    expect((await thread()).some(({ id }) => id === 'client-c1')).toBe(true)
  })
})

describe('getClientTools', () => {
  const build = (model: FakeModel, withToolNode: boolean) => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }, config) => ({
        messages: [await model.bindTools([look, ...getClientTools(config)]).invoke(messages)],
      }))
      .addNode('tools', async (state, config) => {
        const node = new ToolNode([look, ...getClientTools(config)])
        return (await node.invoke(state, config)) as { messages: BaseMessage[] }
      })
      .addEdge(START, 'model')
      .addConditionalEdges('model', ({ messages }) => {
        const calls = (messages.at(-1) as { tool_calls?: unknown[] } | undefined)?.tool_calls ?? []
        return withToolNode && calls.length > 0 ? 'tools' : '__end__'
      })
      .addEdge('tools', 'model')
    return graph.compile({ checkpointer: new MemorySaver() })
  }

  it('gives a graph tools to bind, which ends with a call that waits', async () => {
    const model = new FakeModel([callChunks('c1', 'pick', { of: 'two' }), ['Red']])
    const { run, pending, thread } = converse(build(model, false))
    await run([user('u1')])
    expect(names(model.offered[0])).toEqual(['look', 'pick'])
    expect(await pending()).toEqual(['c1'])
    await run([...(await thread()), result('c1', 'Red')])
    expect(model.calls[1]?.at(-1)?.text).toBe('Red')
  })

  it('gives tools that interrupt for the client when a ToolNode runs them', async () => {
    const model = new FakeModel([callChunks('c1', 'pick', { of: 'two' }), ['Red']])
    const { run, open, thread, graph, config } = converse(build(model, true))
    await run([user('u1')])
    const questions = await open()
    expect(questions).toMatchObject([
      { clientCallId: 'c1', interrupt: { metadata: { langgraph: { value: { args: { of: 'two' } } } } } },
    ])
    const cancelled = new Map(
      questions.map(({ interrupt }) => [interrupt.id, { status: 'cancelled' as const }]),
    )
    const resume = planGraphResume(questions, cancelled)
    if (resume.type !== 'resume') throw new Error('It is not resumed.')
    await graph.invoke(resume.input as never, config)
    expect((await thread())[2]).toMatchObject({ toolCallId: 'c1', error: 'The user did not answer.' })
  })

  it('does not check arguments against what a client wrote', async () => {
    const parameters = {
      type: 'object',
      properties: { of: { type: 'string', pattern: '^([a-z]+-?)*[a-z]+$' } },
    }
    const [pick] = getClientTools({
      configurable: { 'ag-ui': { tools: [{ name: 'pick', description: '', parameters }], context: [] } },
    })
    expect(pick?.schema).toEqual(parameters)
    const call = { type: 'tool_call' as const, id: 'c1', name: 'pick', args: { of: `${'a'.repeat(40)}!` } }
    let called: Promise<unknown> = Promise.resolve()
    endsSoon(() => {
      called = Promise.resolve(pick?.invoke(call))
    })
    await expect(called).rejects.toThrow('No configurable found in config')
  })

  it('gives nothing to a graph that is run by something else', () => {
    expect(getClientTools(undefined)).toEqual([])
    expect(getClientTools({ configurable: { 'ag-ui': { tools: 'none' } } })).toEqual([])
  })
})
