import { FunctionTool, LlmAgent } from '@google/adk'
import type { Tool as ToolInfo } from '@ag-ui/core'
import { tool } from '@langchain/core/tools'
import {
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type LangGraphRunnableConfig,
} from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import {
  agentTool,
  defineAgent,
  defineTool,
  sequential,
  type Agent,
  type PredictStateMapping,
} from '../../src/agents/index.js'
import { clientTools, fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { callsTool, says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { callsIn, textIn } from '../support/adk/serve-adk.js'
import { agentModel } from '../support/langgraph/serve-graph.js'
import { callChunks, FakeModel } from '../support/langgraph/fake-model.js'
import { ofType, toResume } from '../support/run-agent.js'
import { serveAgents } from '../support/serve-agents.js'

interface Writer {
  readonly agent: Agent
  /** The requests to the model so far, as text. */
  readonly prompts: () => string[]
}

const mapping: PredictStateMapping = {
  ...{ stateKey: 'document', tool: 'write_document', toolArgument: 'document' },
}
const args = { document: 'Once upon a time' }
const confirmTool: ToolInfo = {
  ...{ name: 'confirm_changes', description: 'Asks.', parameters: { type: 'object', properties: {} } },
}

/** Agents that write a document, then say something twice. */
const writers: Readonly<Record<string, (predictState: readonly PredictStateMapping[]) => Writer>> = {
  kit(predictState) {
    const model = scriptedModel([[{ toolCall: { name: 'write_document', args } }], 'Written.', 'Gladly.'])
    const write = defineTool({
      ...{ name: 'write_document', description: 'Writes.', input: z.object({ document: z.string() }) },
      execute({ document }, ctx) {
        ctx.setState({ document })
        return 'ok'
      },
    })
    const agent = defineAgent({ name: 'writer', model, tools: [write], predictState })
    return {
      agent,
      prompts: () => model.requests.map(({ messages, tools }) => JSON.stringify([messages, tools])),
    }
  },
  ADK(predictState) {
    const llm = new ScriptedLlm([
      callsTool({ name: 'write_document', args }),
      says('Written.'),
      says('Gladly.'),
    ])
    const write = new FunctionTool({
      ...{ name: 'write_document', description: 'Writes.', parameters: z.object({ document: z.string() }) },
      execute({ document }, context) {
        context?.state.set('document', document)
        return 'ok'
      },
    })
    const agent = fromAdk(new LlmAgent({ name: 'writer', model: llm, tools: [write] }), { predictState })
    const prompts = () =>
      llm.requests.map(({ contents, config }) => JSON.stringify([contents, config?.tools]))
    return { agent, prompts }
  },
  LangGraph(predictState) {
    const model = agentModel([callChunks('c1', 'write_document', args), ['Written.'], ['Gladly.']])
    const write = tool(() => 'ok', {
      ...{ name: 'write_document', description: 'Writes.', schema: z.object({ document: z.string() }) },
    })
    const graph = createAgent({
      ...{ model, tools: [write], middleware: [clientTools()], checkpointer: new MemorySaver() },
    })
    const agent = fromLangGraph(graph, { name: 'writer', predictState })
    const offered = () => model.offered.map((tools) => tools.map((one) => (one as { name?: string }).name))
    return {
      agent,
      prompts: () => model.calls.map((call, index) => JSON.stringify([call, offered()[index]])),
    }
  },
}

const told = (events: readonly AgUiEvent[]) =>
  ofType(events, 'CUSTOM').filter(({ name }) => name === 'PredictState')

/** The id of the call that asks for confirmation. */
function confirmId(events: readonly AgUiEvent[]): string {
  const [call] = callsIn(events).filter(({ name }) => name === 'confirm_changes')
  if (!call) throw new Error('Nobody asks for confirmation.')
  return call.id
}

describe.each(Object.entries(writers))('the document is shown while it is written: %s', (_, make) => {
  const tools = [confirmTool]

  it('says before the call which argument is state, and asks to keep it at the end', async () => {
    const { agent } = make([mapping])
    const talk = (await serveAgents({ agents: [agent] })).talk()
    const events = await talk.say('Write.', { tools })
    const value = [{ state_key: 'document', tool: 'write_document', tool_argument: 'document' }]
    expect(told(events)).toMatchObject([{ value }])
    const types = events.map((event) =>
      event.type === 'TOOL_CALL_START' ? event.toolCallName : event.type === 'CUSTOM' ? event.name : '',
    )
    expect(types.filter(Boolean)).toEqual(['PredictState', 'write_document', 'confirm_changes'])
    expect(textIn(events)).toBe('Written.')
    const outcome = { type: 'success', pendingToolCallIds: [confirmId(events)] }
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome })
  })

  it('takes the answer without a word of the model, which never hears of it', async () => {
    const { agent, prompts } = make([mapping])
    const served = await serveAgents({ agents: [agent], store: 'sqlite' })
    const talk = served.talk()
    const events = await talk.say('Write.', { tools })
    const answered = await talk.answer({ [confirmId(events)]: '{"accepted":true}' }, { tools })
    expect(answered.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    expect(prompts()).toHaveLength(2)
    expect(textIn(await talk.say('More?', { tools }))).toBe('Gladly.')
    expect(prompts().join()).not.toContain('confirm_changes')
  })

  it('takes a new message in place of an answer', async () => {
    const { agent, prompts } = make([mapping])
    const talk = (await serveAgents({ agents: [agent] })).talk()
    await talk.say('Write.', { tools })
    expect(textIn(await talk.say('No, wait.', { tools }))).toBe('Gladly.')
    expect(prompts().join()).not.toContain('confirm_changes')
  })

  it('does not ask with `confirm: false`', async () => {
    const { agent } = make([{ ...mapping, confirm: false }])
    const events = await (await serveAgents({ agents: [agent] })).talk().say('Write.', { tools })
    expect(told(events)).toHaveLength(1)
    expect(callsIn(events)).toHaveLength(1)
  })

  it('lets the next agent of a workflow begin when the person has answered', async () => {
    const { agent, prompts } = make([mapping])
    const editor = defineAgent({ name: 'editor', model: scriptedModel(['Edited.', 'Fine.']) })
    const steps = sequential({ name: 'steps', agents: [agent, editor] })
    const talk = (await serveAgents({ agents: [steps] })).talk()
    const events = await talk.say('Write.', { tools })
    expect(textIn(events)).toBe('Written.')
    const answered = await talk.answer({ [confirmId(events)]: '{"accepted":true}' }, { tools })
    expect(textIn(answered)).toBe('Edited.')
    expect(prompts()).toHaveLength(2)
  })

  it('does not ask behind a tool call, where nobody can answer', async () => {
    const { agent } = make([mapping])
    const call = { name: 'writer', args: { request: 'Write.' } }
    const model = scriptedModel([[{ toolCall: call }], 'There it is.'])
    const lead = defineAgent({
      name: 'lead',
      model,
      tools: [agentTool({ ...agent, description: 'Writes.' })],
    })
    const events = await (await serveAgents({ agents: [lead] })).talk().say('Write.')
    expect(told(events)).toHaveLength(1)
    expect(textIn(events)).toContain('There it is.')
    expect(callsIn(events).map(({ name }) => name)).toEqual(['writer', 'write_document'])
  })
})

it('asks after an interrupt too', async () => {
  const model = scriptedModel([
    [{ toolCall: { name: 'write_document', args } }],
    [{ toolCall: { name: 'publish' } }],
    'Published.',
  ])
  const write = defineTool({ name: 'write_document', description: 'Writes.', execute: () => 'ok' })
  const publish = defineTool({
    ...{ name: 'publish', description: 'Publishes.' },
    execute: async (_, ctx) => (await ctx.interrupt({ message: 'Sure?' })).status,
  })
  const agent = defineAgent({ name: 'writer', model, tools: [write, publish], predictState: [mapping] })
  const talk = (await serveAgents({ agents: [agent] })).talk()
  const last = (await talk.say('Write.')).at(-1)
  const outcome = last?.type === 'RUN_FINISHED' ? last.outcome : undefined
  if (outcome?.type !== 'interrupt') throw new Error('There is no interrupt.')
  const resume = toResume({ [outcome.interrupts[0]?.id ?? '']: true })
  expect(confirmId(await talk.send({ resume }))).toBeTruthy()
})

it('logs a tool that neither the agent nor the client has', async () => {
  const problems: string[] = []
  const log = (facts: object): void => void problems.push(JSON.stringify(facts))
  const agent = defineAgent({ name: 'writer', model: scriptedModel(['Hm.']), predictState: [mapping] })
  const served = await serveAgents({ agents: [agent], log: { debug: log, info: log, warn: log, error: log } })
  await served.talk().say('Write.')
  expect(problems.join()).toContain('write_document')
})

describe('a graph', () => {
  function graphOf(model: FakeModel, metadata: Record<string, unknown>) {
    return new StateGraph(MessagesAnnotation)
      .addNode('write', async ({ messages }, config: LangGraphRunnableConfig) => ({
        messages: [
          await model.invoke(messages, { ...config, metadata: { ...config.metadata, ...metadata } }),
        ],
      }))
      .addEdge(START, 'write')
      .compile()
  }

  it('says in the metadata of a model what it predicts, as with other adapters', async () => {
    const model = new FakeModel([callChunks('c1', 'write_document', args)])
    const predicted = {
      predict_state: [{ state_key: 'document', tool: 'write_document', tool_argument: 'document' }],
    }
    const agent = fromLangGraph(graphOf(model, predicted), { name: 'writer' })
    const events = await (await serveAgents({ agents: [agent] })).talk().say('Write.')
    expect(told(events)).toMatchObject([{ value: predicted.predict_state }])
    const position = (find: (event: AgUiEvent) => boolean) => events.findIndex(find)
    expect(position(({ type }) => type === 'CUSTOM')).toBeLessThan(
      position(({ type }) => type === 'TOOL_CALL_START'),
    )
  })

  it('gets the `forwardedProps` of the client', async () => {
    const seen: unknown[] = []
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('look', (_, config) => {
        seen.push((config.configurable?.['ag-ui'] as { forwardedProps?: unknown }).forwardedProps)
        return {}
      })
      .addEdge(START, 'look')
      .compile()
    const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'looker' })] })
    await served.talk().say('Look.', { forwardedProps: { theme: 'dark' } })
    expect(seen).toEqual([{ theme: 'dark' }])
  })
})

it('is not asked about for a call that a retry has taken back', async () => {
  const document = defineTool({
    name: 'write_document',
    description: 'Writes.',
    input: z.object({ document: z.string() }),
    execute: () => 'written',
  })
  const agent = defineAgent({
    name: 'writer',
    model: scriptedModel([
      ['Bad.', { toolCall: { name: 'write_document', args: { document: 'Draft' } } }],
      'Never mind.',
    ]),
    retry: {
      ...{ attempts: 2, initialDelayMs: 0 },
      verdict: ({ answer }) => (answer?.text === 'Bad.' ? { retry: true, reason: 'bad' } : undefined),
    },
    tools: [document],
    predictState: [mapping],
  })
  const served = await serveAgents({ agents: [agent] })
  const events = await served.talk().say('Write.')
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
  expect(JSON.stringify(events)).not.toContain('confirm_changes')
})
