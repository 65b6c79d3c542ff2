import type { Message } from '@ag-ui/core'
import { FunctionTool, LlmAgent } from '@google/adk'
import { Annotation, MemorySaver, START, StateGraph } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { fromAdk } from '../../src/adk/index.js'
import { defineAgent, defineTool, parallel, run, sequential, type Agent } from '../../src/agents/index.js'
import { clientTools, fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel, type ScriptedAnswer } from '../../src/models/index.js'
import { callsTool, says, ScriptedLlm, type LlmStep } from '../support/adk/scripted-llm.js'
import { callChunks, type ModelStep } from '../support/langgraph/fake-model.js'
import { agentModel, clientTool } from '../support/langgraph/serve-graph.js'
import { createClient, linted, ofType, type Played } from '../support/run-agent.js'
import { servedRemote } from './support-remote.js'

interface Scripts {
  readonly kit: readonly ScriptedAnswer[]
  readonly adk: readonly LlmStep[]
  readonly graph: readonly ModelStep[]
  readonly far: readonly ScriptedAnswer[]
}

/** One agent of each runtime. */
async function crewOf(scripts: Scripts) {
  const kit = scriptedModel(scripts.kit)
  const far = scriptedModel(scripts.far)
  const llm = new ScriptedLlm(scripts.adk)
  const model = agentModel(scripts.graph)
  const { agent } = await servedRemote({ agents: [defineAgent({ name: 'far', model: far })] })
  const graph = createAgent({
    model,
    tools: [],
    checkpointer: new MemorySaver(),
    middleware: [clientTools()],
  }).graph as unknown as Parameters<typeof fromLangGraph>[0]
  const agents: Agent[] = [
    defineAgent({ name: 'kit', model: kit }),
    fromAdk(new LlmAgent({ name: 'adk', model: llm })),
    fromLangGraph(graph, { name: 'graph' }),
    agent({ name: 'remote' }),
  ]
  const asked = () => [kit.requests.length, llm.calls.length, model.calls.length, far.requests.length]
  return { agents, asked, kit, llm, model, far }
}

const pick = (id: string) => ({ toolCall: { id, name: 'pick', args: {} } })
const tools = [clientTool('pick')]

function pendingIn({ outcome }: Played): readonly string[] {
  return outcome.type === 'completed' ? outcome.pendingToolCalls.map(({ id }) => id) : []
}

function resultOf(toolCallId: string): Message {
  return { id: crypto.randomUUID(), role: 'tool', toolCallId, content: `result of ${toolCallId}` }
}

const calling: Scripts = {
  kit: [[pick('k1')], 'Kit.'],
  adk: [callsTool({ name: 'pick', id: 'a1' }), says('Adk.')],
  graph: [callChunks('g1', 'pick', {}), ['Graph.']],
  far: [[pick('f1')], 'Far.'],
}

describe('a tool of the client', () => {
  it('is called by each runtime in its turn, and each goes on in its place', async () => {
    const crew = await crewOf(calling)
    const client = createClient(sequential({ name: 'line', agents: crew.agents }), tools)
    let played = await client.say('Go.')
    const rounds: unknown[] = []
    for (let round = 0; round < 4; round++) {
      const pending = pendingIn(played)
      rounds.push([pending.length, crew.asked()])
      played = await client.send({ messages: [...client.messages, ...pending.map(resultOf)] })
    }
    expect(rounds).toEqual([
      [1, [1, 0, 0, 0]],
      [1, [2, 1, 0, 0]],
      [1, [2, 2, 1, 0]],
      [1, [2, 2, 2, 1]],
    ])
    expect(played.outcome).toMatchObject({ type: 'completed', text: 'Far.', pendingToolCalls: [] })
    expect(crew.asked()).toEqual([2, 2, 2, 2])
    const heard = crew.far.requests[1]?.messages.map(({ content }) => content)
    expect(heard).toEqual([
      'Go.',
      'For context: [kit] called tool `pick` with arguments: {}',
      'For context: [kit] tool `pick` returned: result of k1',
      'For context: [kit] said: Kit.',
      expect.stringContaining('[adk] called tool `pick`'),
      expect.stringContaining('[adk] tool `pick` returned'),
      'For context: [adk] said: Adk.',
      expect.stringContaining('[graph] called tool `pick`'),
      expect.stringContaining('[graph] tool `pick` returned'),
      'For context: [graph] said: Graph.',
      undefined,
      'result of f1',
    ])
  })

  it('is called by all runtimes side by side, and answered together', async () => {
    const crew = await crewOf(calling)
    const client = createClient(parallel({ name: 'lanes', agents: crew.agents }), tools)
    const first = await client.say('Go.')
    const pending = pendingIn(first)
    expect(pending).toHaveLength(4)
    const second = await client.send({ messages: [...client.messages, ...pending.map(resultOf)] })
    expect(second.outcome).toMatchObject({ type: 'completed', pendingToolCalls: [] })
    expect(
      ofType(second.events, 'TEXT_MESSAGE_CONTENT')
        .map(({ delta }) => delta)
        .sort(),
    ).toEqual(['Adk.', 'Far.', 'Graph.', 'Kit.'])
    expect(crew.asked()).toEqual([2, 2, 2, 2])
  })
})

it('what the runtimes used is the usage of the run', async () => {
  const usage = { inputTokens: 10, outputTokens: 2 }
  // The type of a chunk's fields does not know them, its constructor does.
  const usage_metadata = { input_tokens: 10, output_tokens: 2, total_tokens: 12 }
  const used = { content: '', usage_metadata } as unknown as ModelStep[number]
  const crew = await crewOf({
    kit: [['Kit.', { usage }]],
    adk: [
      [
        {
          content: { role: 'model', parts: [{ text: 'Adk.' }] },
          usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
        },
      ],
    ],
    graph: [['Graph.', used]],
    far: [['Far.', { usage }]],
  })
  const { outcome } = await createClient(sequential({ name: 'line', agents: crew.agents })).say('Go.')
  const total = outcome.usage.reduce((sum, { inputTokens = 0 }) => sum + inputTokens, 0)
  expect(total).toBe(40)
})

it('what one runtime does to the shared state, the next one finds there', async () => {
  const seen: unknown[] = []
  const setting = (name: string) =>
    defineTool({
      name: 'set',
      description: 'Sets.',
      execute: (_args, { state, setState }) => {
        seen.push(Object.keys(Object(state) as object).sort())
        setState((old: object) => ({ ...old, [name]: 1 }))
        return 'set'
      },
    })
  const set = { toolCall: { name: 'set', args: {} } }
  const { agent: remote } = await servedRemote({
    agents: [defineAgent({ name: 'far', model: scriptedModel([[set], 'Far.']), tools: [setting('far')] })],
  })
  const adkTool = new FunctionTool({
    name: 'set',
    description: 'Sets.',
    execute: (_args, context) => {
      seen.push(context?.state.get('kit'))
      context?.state.set('adk', 1)
      return 'set'
    },
  })
  const graph = new StateGraph(Annotation.Root({ kit: Annotation<number>(), graph: Annotation<number>() }))
    .addNode('set', ({ kit }) => {
      seen.push(kit)
      return { graph: 1 }
    })
    .addEdge(START, 'set')
    .compile()
  const agents = [
    defineAgent({ name: 'kit', model: scriptedModel([[set], 'Kit.']), tools: [setting('kit')] }),
    fromAdk(
      new LlmAgent({
        name: 'adk',
        model: new ScriptedLlm([callsTool({ name: 'set' }), says('Adk.')]),
        tools: [adkTool],
      }),
    ),
    fromLangGraph(graph, { name: 'graph' }),
    remote({ name: 'remote' }),
  ]
  const { outcome } = await createClient(sequential({ name: 'line', agents })).say('Go.')
  expect(outcome.state).toEqual({ kit: 1, adk: 1, graph: 1, far: 1 })
  expect(seen).toEqual([[], 1, 1, ['adk', 'graph', 'kit']])
})

it('a cancelled run stops all of them', async () => {
  const forever = new Promise<void>(() => undefined)
  let stopped = 0
  const waiting = [{ wait: () => forever }]
  const crew = await crewOf({
    kit: [['Kit', ...waiting]],
    adk: [
      async function* wait(_request, signal) {
        yield { content: { role: 'model', parts: [{ text: 'Adk' }] }, partial: true }
        await new Promise((resolve) => signal?.addEventListener('abort', resolve))
        stopped++
        throw new Error('stopped')
      },
    ],
    graph: [['Graph', ' ...', ' and', ' so', ' on']],
    far: [['Far', ...waiting]],
  })
  const request = { messages: [{ id: 'u1', role: 'user' as const, content: 'Go.' }] }
  const running = run(parallel({ name: 'lanes', agents: crew.agents }), request)
  const texts = new Set<string>()
  for await (const event of linted(running, request)) {
    if (event.type === 'TEXT_MESSAGE_CONTENT') texts.add(event.delta)
    if (['Kit', 'Adk', 'Graph', 'Far'].every((text) => texts.has(text))) running.cancel()
  }
  expect((await running.result).type).toBe('cancelled')
  expect(stopped).toBe(1)
})
