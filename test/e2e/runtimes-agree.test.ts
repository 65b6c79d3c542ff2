import { HttpAgent } from '@ag-ui/client'
import type { Message, ToolMessage } from '@ag-ui/core'
import type { AIMessage } from '@langchain/core/messages'
import { FunctionTool, LlmAgent, SequentialAgent, type LlmResponse } from '@google/adk'
import { tool } from '@langchain/core/tools'
import { END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { manualClock } from '../../src/core/clock.js'
import { agentTool, defineAgent, defineTool, parallel, type Agent } from '../../src/index.js'
import { clientTools, fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { AgentEvent, AgUiEvent } from '../../src/protocol/index.js'
import { fromAgUi } from '../../src/remote/index.js'
import { callsTool, says, ScriptedLlm, whole } from '../support/adk/scripted-llm.js'
import { callChunks } from '../support/langgraph/fake-model.js'
import { agentModel, historyOf, interruptsIn } from '../support/langgraph/serve-graph.js'
import { deferred, ofType } from '../support/run-agent.js'
import { linesOf, serveAgents } from '../support/serve-agents.js'

/** Things that every runtime does alike, over the whole way. */

const work = { name: 'work', description: 'Works.' }

const last = (events: readonly AgUiEvent[]): AgUiEvent | undefined => events.at(-1)

describe('usage of two calls of one model', () => {
  const whenDone = (): string => 'done'

  function kitAgent(): Agent {
    const model = scriptedModel([
      [{ toolCall: { name: 'work' } }, { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }],
      ['Done.', { usage: { inputTokens: 4 } }],
    ])
    return defineAgent({ name: 'kit', model, tools: [defineTool({ ...work, execute: whenDone })] })
  }

  function adkAgent(): Agent {
    const used = (usageMetadata: NonNullable<LlmResponse['usageMetadata']>) => ({
      usageMetadata,
      modelVersion: 'm',
    })
    const llm = new ScriptedLlm([
      [
        whole(
          [{ functionCall: { name: 'work', args: {} } }],
          used({ promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 }),
        ),
      ],
      [whole([{ text: 'Done.' }], used({ promptTokenCount: 4 }))],
    ])
    const tools = [new FunctionTool({ ...work, parameters: z.object({}), execute: whenDone })]
    return fromAdk(new LlmAgent({ name: 'adk', model: llm, tools }))
  }

  function graphAgent(): Agent {
    const used = (counts: object) => ({ content: '', usage_metadata: counts as never })
    const model = agentModel([
      [...callChunks('c1', 'work', {}), used({ input_tokens: 10, output_tokens: 5, total_tokens: 15 })],
      ['Done.', used({ input_tokens: 4 })],
    ])
    const tools = [tool(whenDone, { ...work, schema: z.object({}) })]
    return fromLangGraph(createAgent({ model, tools, checkpointer: new MemorySaver() }).graph, {
      name: 'graph',
    })
  }

  it.each([
    ['the kit', kitAgent],
    ['ADK', adkAgent],
    ['LangGraph', graphAgent],
  ])('adds up when one of them reports its input alone, with %s', async (_, make) => {
    const served = await serveAgents({ agents: [make()] })
    const end = last(await served.talk().say('Go'))
    expect(end).toMatchObject({
      type: 'RUN_FINISHED',
      usage: [{ inputTokens: 14, outputTokens: 5, totalTokens: 19 }],
    })
  })
})

describe('a run that takes too long', () => {
  const late: AgentEvent[] = [
    { type: 'TEXT_MESSAGE_CHUNK', messageId: 'late', role: 'assistant', delta: 'Sorry.' },
  ]
  let begun = deferred()
  const never = (): Promise<string> => {
    begun.resolve()
    return new Promise(() => undefined)
  }

  const kit = () => {
    const model = scriptedModel([[{ toolCall: { name: 'work' } }], 'Fast.', 'Fast.'])
    return defineAgent({ name: 'kit', model, tools: [defineTool({ ...work, execute: never })] })
  }
  const adk = () => {
    const tools = [new FunctionTool({ ...work, parameters: z.object({}), execute: never })]
    const model = new ScriptedLlm([callsTool({ name: 'work' }), says('Fast.'), says('Fast.')])
    return fromAdk(new LlmAgent({ name: 'adk', model, tools }))
  }
  const graph = () => {
    const model = agentModel([[...callChunks('c1', 'work', {})], ['Fast.'], ['Fast.']])
    const tools = [tool(never, { ...work, schema: z.object({}) })]
    return fromLangGraph(createAgent({ model, tools, checkpointer: new MemorySaver() }).graph, {
      name: 'graph',
    })
  }

  it.each([
    ['the kit', kit],
    ['ADK', adk],
    ['LangGraph', graph],
  ])('does not end as a success, though the hook says something, with %s', async (_, make) => {
    begun = deferred()
    const clock = manualClock()
    const served = await serveAgents({
      ...{ agents: [make()], clock, limits: { runTimeoutMs: 1000 } },
      hooks: { runtimeTimeout: () => late },
    })
    const talk = served.talk()
    const running = talk.say('Go')
    await begun.promise
    for (let n = 0; n < 10; n++) await clock.advance(500)
    const events = await running
    expect(last(events)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })
    expect((await historyOf(served)).at(-1)).toEqual({ id: 'late', role: 'assistant', content: 'Sorry.' })
    expect(last(await talk.say('Again'))).toMatchObject({ outcome: { type: 'success' } })
  })
})

describe('an interrupt of a subagent', () => {
  const question = { message: 'Work?', responseSchema: z.object({ approved: z.boolean() }) }

  const askingTool = () =>
    defineTool({ ...work, execute: async (_, ctx) => (await ctx.interrupt(question)).status })

  function kitTree(
    inner: Agent = defineAgent({
      ...{ name: 'inner', description: 'Works.', tools: [askingTool()] },
      model: scriptedModel([[{ toolCall: { id: 'inner-1', name: 'work' } }], 'Worked.']),
    }),
  ): Agent {
    const model = scriptedModel([
      [{ toolCall: { id: 'outer-1', name: 'inner', args: { request: 'Go' } } }],
      'Done.',
    ])
    return defineAgent({ name: 'boss', model, tools: [agentTool(inner)] })
  }

  function adkAgent(): LlmAgent {
    const tools = [
      new FunctionTool({
        ...work,
        parameters: z.object({}),
        requireConfirmation: true,
        execute: () => ({ ok: true }),
      }),
    ]
    const model = new ScriptedLlm([callsTool({ name: 'work' }), says('Worked.')])
    return new LlmAgent({ name: 'inner', description: 'Works.', model, tools })
  }

  function adkTree(): Agent {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- The shortest tree: a Workflow needs edges.
    return fromAdk(new SequentialAgent({ name: 'boss', subAgents: [adkAgent()] }))
  }

  function askingGraph() {
    return new StateGraph(MessagesAnnotation)
      .addNode('ask', () => (interrupt({ message: 'Work?' }), {}))
      .addEdge(START, 'ask')
  }

  function graphTree(): Agent {
    const outer = new StateGraph(MessagesAnnotation)
      .addNode('inner', askingGraph().compile())
      .addEdge(START, 'inner')
    return fromLangGraph(outer.compile({ checkpointer: new MemorySaver() }), { name: 'boss' })
  }

  function graphBelowKit(): Agent {
    const graph = askingGraph().compile({ checkpointer: new MemorySaver() })
    return kitTree(fromLangGraph(graph, { name: 'inner', description: 'Works.' }))
  }

  function adkBelowKit(): Agent {
    return parallel({ name: 'boss', agents: [fromAdk(adkAgent())] })
  }

  async function remoteTree(): Promise<Agent> {
    const far = defineAgent({
      ...{ name: 'far', tools: [askingTool()] },
      model: scriptedModel([[{ toolCall: { id: 'far-1', name: 'work' } }], 'Worked.']),
    })
    const { url } = await serveAgents({ agents: [far] })
    return kitTree(fromAgUi(new HttpAgent({ url }), { name: 'inner', description: 'Works.' }))
  }

  it.each([
    ['the kit', () => kitTree()],
    ['ADK', adkTree],
    ['LangGraph', graphTree],
    ['a remote agent', remoteTree],
    ['a graph below the kit', graphBelowKit],
    ['an ADK agent below the kit', adkBelowKit],
  ])('keeps its subagent on connect, when asked again and after a restart, with %s', async (_, make) => {
    const agent = await make()
    let served = await serveAgents({ agents: [agent], store: 'sqlite' })
    const talk = served.talk()
    const first = await talk.say('Go')
    const [span] = ofType(first, 'SUBAGENT_STARTED')
    const [asked] = interruptsIn(first)
    expect(asked?.subagentRunId).toBe(span?.subagentRunId)
    const body = { threadId: 'thread-1', protocolVersion: '1.0' }
    const connected = async () => (await served.stream('/connect', { body })).events
    expect(interruptsIn(await connected())).toEqual([asked])
    const other = served.talk()
    expect(interruptsIn(await other.say('Hello?'))).toEqual([asked])
    served = await served.restart()
    expect(interruptsIn(await connected())).toEqual([asked])
    const resume = [
      {
        interruptId: asked?.id ?? '',
        status: 'resolved' as const,
        payload: { approved: true, confirmed: true },
      },
    ]
    const again = served.talk()
    again.client.setMessages([...(await historyOf(served))])
    expect(last(await again.send({ resume }))).toMatchObject({ outcome: { type: 'success' } })
  })
})

describe('a tool that fails', () => {
  const fail = (): never => {
    throw new Error('no power')
  }
  const kit = () => {
    const model = scriptedModel([[{ toolCall: { name: 'work' } }], 'Sorry.', 'Still.'])
    const agent = defineAgent({ name: 'kit', model, tools: [defineTool({ ...work, execute: fail })] })
    return { agent, seen: () => JSON.stringify(model.requests.at(-1)?.messages) }
  }
  const adk = () => {
    const llm = new ScriptedLlm([callsTool({ name: 'work' }), says('Sorry.'), says('Still.')])
    const tools = [new FunctionTool({ ...work, parameters: z.object({}), execute: fail })]
    const agent = fromAdk(new LlmAgent({ name: 'adk', model: llm, tools }))
    return { agent, seen: () => JSON.stringify(llm.calls.at(-1)) }
  }
  const graph = () => {
    const model = agentModel([[...callChunks('c1', 'work', {})], ['Sorry.'], ['Still.']])
    const tools = [tool(fail, { ...work, schema: z.object({}) })]
    const { graph: compiled } = createAgent({ model, tools, checkpointer: new MemorySaver() })
    return {
      agent: fromLangGraph(compiled, { name: 'graph' }),
      seen: () => JSON.stringify(model.calls.at(-1)),
    }
  }

  it.each([
    ['the kit', kit],
    ['ADK', adk],
    ['LangGraph', graph],
  ])('has the standard error on its message, in history and snapshots, with %s', async (_, make) => {
    const { agent, seen } = make()
    const served = await serveAgents({ agents: [agent] })
    const talk = served.talk()
    const [result] = ofType(await talk.say('Go'), 'TOOL_CALL_RESULT')
    expect(result?.metadata).toMatchObject({ millrace: { isError: true } })
    const failed = (messages: readonly Message[]) =>
      messages.find((message): message is ToolMessage => message.role === 'tool')?.error
    expect(failed(await historyOf(served))).toContain('no power')
    const body = { threadId: 'thread-1', protocolVersion: '1.0' }
    const [snapshot] = ofType((await served.stream('/connect', { body })).events, 'MESSAGES_SNAPSHOT')
    expect(failed(snapshot?.messages ?? [])).toContain('no power')
    await talk.say('And now?')
    expect(seen()).toContain('no power')
  })
})

describe("the client's context", () => {
  const context = [{ description: 'The page', value: 'checkout' }]

  const kit = () => {
    const model = scriptedModel(['Yes.'])
    return { agent: defineAgent({ name: 'kit', model }), seen: () => model.requests[0]?.context }
  }
  const team = () => {
    const inner = scriptedModel(['Worked.'])
    const model = scriptedModel([[{ toolCall: { name: 'inner', args: { request: 'Go' } } }], 'Yes.'])
    const worker = defineAgent({ name: 'inner', description: 'Works.', model: inner })
    const agent = defineAgent({ name: 'boss', model, tools: [agentTool(worker)] })
    return { agent, seen: () => inner.requests[0]?.context }
  }
  const adk = () => {
    const llm = new ScriptedLlm([says('Yes.')])
    const agent = fromAdk(new LlmAgent({ name: 'adk', model: llm }))
    return { agent, seen: () => JSON.stringify(llm.requests[0]?.config) }
  }
  const graph = () => {
    const seen: unknown[] = []
    const compiled = new StateGraph(MessagesAnnotation)
      .addNode('look', (_, config) => {
        seen.push(config.configurable?.['ag-ui'])
        return {}
      })
      .addEdge(START, 'look')
      .compile()
    return { agent: fromLangGraph(compiled, { name: 'graph' }), seen: () => JSON.stringify(seen) }
  }

  it.each([
    ['a kit agent', kit],
    ['a kit agent below another', team],
    ['an ADK agent', adk],
    ['a graph', graph],
  ])('reaches %s', async (_, make) => {
    const { agent, seen } = make()
    const served = await serveAgents({ agents: [agent] })
    await served.talk().say('Go', { context })
    expect(seen()).toContain('The page')
    expect(seen()).toContain('checkout')
  })
})

it('a file handle that Gemini cannot take is reported by ADK too', async () => {
  const llm = new ScriptedLlm([says('Yes.')])
  const problems: unknown[] = []
  const warn = (facts: object): void => void problems.push('problem' in facts ? facts.problem : facts)
  const log = { debug: () => undefined, info: () => undefined, warn, error: warn }
  const agent = fromAdk(new LlmAgent({ name: 'adk', model: llm }))
  const { client } = (await serveAgents({ agents: [agent], log })).talk()
  const source = { type: 'file' as const, value: 'file-2', provider: 'openai' }
  client.addMessage({ id: 'u1', role: 'user', content: [{ type: 'document', source }] })
  await client.runAgent()
  expect(problems).toEqual(["message 'u1': the document cannot be given to the model"])
})

describe('an interrupt about a tool call', () => {
  it('does not name a call that a hook keeps from clients', async () => {
    const ask = defineTool({
      ...work,
      execute: async (_, ctx) => (await ctx.interrupt({ message: 'Go?' })).status,
    })
    const model = scriptedModel([[{ toolCall: { id: 'c1', name: 'work' } }], 'Done.'])
    const hooks = { event: (event: AgentEvent) => (event.type.startsWith('TOOL_CALL') ? undefined : event) }
    const served = await serveAgents({ agents: [defineAgent({ name: 'kit', model, tools: [ask] })], hooks })
    const talk = served.talk()
    const [asked] = interruptsIn(await talk.say('Go'))
    expect(asked).toMatchObject({ message: 'Go?' })
    expect(asked?.toolCallId).toBeUndefined()
    const resume = [{ interruptId: asked?.id ?? '', status: 'resolved' as const, payload: {} }]
    expect(last(await talk.send({ resume }))).toMatchObject({ outcome: { type: 'success' } })
  })

  it('may be about a call that has its result: whether to use it', async () => {
    const model = agentModel([[...callChunks('c1', 'work', {})], ['Done.']])
    const look = tool(() => 'three rows', { ...work, schema: z.object({}) })
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode('tools', new ToolNode([look]))
      .addNode('review', () => {
        interrupt({ message: 'Use them?', toolCallId: 'c1' })
        return {}
      })
      .addEdge(START, 'agent')
      .addEdge('agent', 'tools')
      .addEdge('tools', 'review')
      .compile({ checkpointer: new MemorySaver() })
    const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'graph' })] })
    const events = await served.talk().say('Go')
    expect(ofType(events, 'TOOL_CALL_RESULT')).toHaveLength(1)
    expect(interruptsIn(events)).toMatchObject([{ message: 'Use them?', toolCallId: 'c1' }])
  })
})

describe('a model that gives every call the same id', () => {
  const numbered = z.object({ n: z.number() })
  const worked = ({ n }: { n: number }): string => `worked ${n}`
  const pick = { name: 'pick', description: 'Picks.', parameters: { type: 'object', properties: {} } }
  /** What the model does: calls with a number, or text. */
  type Script = readonly (readonly [tool: 'work' | 'pick', n: number] | string)[]

  const kit = (script: Script) => {
    const model = scriptedModel(
      script.map((step) =>
        typeof step === 'string'
          ? [step]
          : [{ toolCall: { id: 'call_0', name: step[0], args: { n: step[1] } } }],
      ),
    )
    const tools = [defineTool({ ...work, input: numbered, execute: worked })]
    return {
      agent: defineAgent({ name: 'kit', model, tools }),
      seen: () => JSON.stringify(model.requests.at(-1)?.messages),
    }
  }
  const adk = (script: Script) => {
    const llm = new ScriptedLlm(
      script.map((step) =>
        typeof step === 'string'
          ? says(step)
          : callsTool({ id: 'call_0', name: step[0], args: { n: step[1] } }),
      ),
    )
    const tools = [new FunctionTool({ ...work, parameters: numbered, execute: worked })]
    return {
      agent: fromAdk(new LlmAgent({ name: 'adk', model: llm, tools })),
      seen: () => JSON.stringify(llm.calls.at(-1)),
    }
  }
  const graphModel = (script: Script) =>
    agentModel(
      script.map((step) =>
        typeof step === 'string' ? [step] : callChunks('call_0', step[0], { n: step[1] }),
      ),
    )
  const graphTool = tool(worked, { ...work, schema: numbered })
  const created = (script: Script) => {
    const model = graphModel(script)
    const { graph } = createAgent({
      ...{ model, tools: [graphTool], checkpointer: new MemorySaver() },
      middleware: [clientTools()],
    })
    return {
      agent: fromLangGraph(graph, { name: 'graph' }),
      seen: () => JSON.stringify(model.calls.at(-1)),
    }
  }
  /** Written by hand. `ToolNode` itself does not run a call whose id has a result. */
  const written = (script: Script, checkpointer?: MemorySaver) => {
    const model = graphModel(script)
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode('tools', new ToolNode([graphTool]))
      .addEdge(START, 'agent')
      .addConditionalEdges('agent', ({ messages }) => {
        const [call] = (messages.at(-1) as AIMessage).tool_calls ?? []
        return call?.name === 'work' ? 'tools' : END
      })
      .addEdge('tools', 'agent')
      .compile(checkpointer && { checkpointer })
    return {
      agent: fromLangGraph(graph, { name: 'graph' }),
      seen: () => JSON.stringify(model.calls.at(-1)),
    }
  }

  it.each([
    ['the kit', kit],
    ['ADK', adk],
    ['createAgent of LangChain', created],
    ['a graph', (script: Script) => written(script, new MemorySaver())],
    ['a graph without a checkpointer', (script: Script) => written(script)],
  ])('makes calls that each have their own result, for clients and the model, with %s', async (_, make) => {
    const { agent, seen } = make([
      ...([['work', 1], ['work', 2], 'Two.'] as const),
      ...([['work', 3], 'Three.'] as const),
      ...([['pick', 4], 'Four.'] as const),
      ...([['pick', 5], 'Five.', 'Bye.'] as const),
    ])
    const served = await serveAgents({ agents: [agent] })
    const talk = served.talk()
    await talk.say('First')
    await talk.say('Second')
    for (const answer of ['picked 4', 'picked 5']) {
      const end = last(await talk.say('Pick', { tools: [pick] }))
      const [pending = ''] =
        (end as { outcome?: { pendingToolCallIds?: string[] } }).outcome?.pendingToolCallIds ?? []
      await talk.answer({ [pending]: answer }, { tools: [pick] })
    }
    await talk.say('Bye')
    const lines = [
      ...['user: First', 'assistant: work({"n":1})', 'tool: worked 1'],
      ...['assistant: work({"n":2})', 'tool: worked 2', 'assistant: Two.'],
      ...['user: Second', 'assistant: work({"n":3})', 'tool: worked 3', 'assistant: Three.'],
      ...['user: Pick', 'assistant: pick({"n":4})', 'tool: picked 4', 'assistant: Four.'],
      ...['user: Pick', 'assistant: pick({"n":5})', 'tool: picked 5', 'assistant: Five.'],
      ...['user: Bye', 'assistant: Bye.'],
    ]
    expect(linesOf(talk.client.messages)).toEqual(lines)
    expect(await historyOf(served)).toMatchObject(talk.client.messages)
    const { messages } = talk.client
    const calls = messages.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []))
    expect(new Set(calls.map(({ id }) => id)).size).toBe(5)
    const results = messages.flatMap((one) => (one.role === 'tool' ? [one.toolCallId] : []))
    expect(results).toEqual(calls.map(({ id }) => id))
    expect(seen().match(/(worked|picked) \d/g)).toEqual([
      ...['worked 1', 'worked 2', 'worked 3', 'picked 4', 'picked 5'],
    ])
    expect(served.logged.filter((line) => line.startsWith('warn'))).toEqual([])
  })
})
