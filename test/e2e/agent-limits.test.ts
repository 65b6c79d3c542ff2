import { AgentTool, FunctionTool, LlmAgent, START, ToolNode, Workflow } from '@google/adk'
import { AIMessage } from '@langchain/core/messages'
import { StructuredTool, tool } from '@langchain/core/tools'
import { MemorySaver, MessagesAnnotation, START as GRAPH_START, StateGraph } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import {
  agentTool,
  defineAgent,
  defineTool,
  run,
  sequential,
  withRetry,
  type Agent,
} from '../../src/agents/index.js'
import { manualClock } from '../../src/core/clock.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { callsTool, says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { interruptsIn, textIn } from '../support/adk/serve-adk.js'
import { agentModel } from '../support/langgraph/serve-graph.js'
import { callChunks } from '../support/langgraph/fake-model.js'
import { deferred, ofType, toResume } from '../support/run-agent.js'
import { serveAgents, type ServeAgentsOptions } from '../support/serve-agents.js'

const never = (): Promise<never> => new Promise(() => undefined)

/** A tool that hangs: says when it is called, and whether its signal has aborted. */
function hanging() {
  const called = deferred()
  let signal: AbortSignal | undefined
  return {
    called: called.promise,
    isStopped: () => signal?.aborted === true,
    hang: (given: AbortSignal | undefined): Promise<never> => {
      signal = given
      called.resolve()
      return never()
    },
  }
}

type Hanging = ReturnType<typeof hanging>

function adkTool({ hang }: Hanging): FunctionTool {
  return new FunctionTool({
    ...{ name: 'hang', description: 'Hangs.', parameters: z.object({}) },
    execute: (_, context) => hang(context?.abortSignal),
  })
}

function adkAgent(rig: Hanging): Agent {
  const model = new ScriptedLlm([callsTool({ name: 'hang' }), says('It did not work.')])
  return fromAdk(new LlmAgent({ name: 'helper', model, tools: [adkTool(rig)] }))
}

function graphTool({ hang }: Hanging) {
  return tool((_: unknown, config: { signal?: AbortSignal }) => hang(config.signal), {
    ...{ name: 'hang', description: 'Hangs.', schema: z.object({}) },
  })
}

/** Ignores its signal. */
class DeafTool extends StructuredTool {
  override name = 'hang'
  override description = 'Hangs.'
  override schema = z.object({})

  readonly rig: Hanging

  constructor(rig: Hanging) {
    super()
    this.rig = rig
  }

  protected override _call(): Promise<string> {
    return this.rig.hang(undefined)
  }
}

const graphModel = () => agentModel([callChunks('c1', 'hang', {}), ['It did not work.']])

const agents: Readonly<Record<string, (rig: Hanging) => Agent>> = {
  kit: ({ hang }) =>
    defineAgent({
      name: 'helper',
      model: scriptedModel([[{ toolCall: { name: 'hang' } }], 'It did not work.']),
      tools: [defineTool({ name: 'hang', description: 'Hangs.', execute: (_, { signal }) => hang(signal) })],
    }),
  ADK: adkAgent,
  'ADK, behind an AgentTool': (rig) => {
    const inner = new LlmAgent({
      ...{ name: 'inner', description: 'Tries.', tools: [adkTool(rig)] },
      model: new ScriptedLlm([callsTool({ name: 'hang' }), says('Inner is done.')]),
    })
    const model = new ScriptedLlm([
      callsTool({ name: 'inner', args: { request: 'Go' } }),
      says('It did not work.'),
    ])
    return fromAdk(new LlmAgent({ name: 'helper', model, tools: [new AgentTool({ agent: inner })] }))
  },
  createAgent: (rig) =>
    fromLangGraph(createAgent({ model: graphModel(), tools: [graphTool(rig)] }), { name: 'helper' }),
  'createAgent with a tool that ignores its signal': (rig) =>
    fromLangGraph(createAgent({ model: graphModel(), tools: [new DeafTool(rig)] }), { name: 'helper' }),
  'a graph below a graph': (rig) => {
    const inner = createAgent({ model: graphModel(), tools: [graphTool(rig)] }).graph
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('inner', inner)
      .addEdge(GRAPH_START, 'inner')
      .compile({ checkpointer: new MemorySaver() })
    return fromLangGraph(graph, { name: 'helper' })
  },
}

async function serveHanging(
  make: (rig: Hanging) => Agent,
  { text = 'Try it.', ...options }: Partial<ServeAgentsOptions> & { readonly text?: string } = {},
) {
  const clock = manualClock()
  const rig = hanging()
  const served = await serveAgents({ agents: [make(rig)], clock, ...options })
  const talk = served.talk()
  const said = talk.say(text).catch(() => undefined)
  await rig.called
  const events = async () => {
    await said
    return talk.streams.at(-1)?.events ?? []
  }
  return { clock, rig, served, talk, events }
}

describe('a tool that hangs does not hold the run for longer than `toolTimeoutMs`', () => {
  it.each(Object.entries(agents))('%s', async (name, make) => {
    const { clock, rig, events } = await serveHanging(make, { limits: { toolTimeoutMs: 1000 } })
    await clock.advance(999)
    expect(rig.isStopped()).toBe(false)
    await clock.advance(1)
    const all = await events()
    if (!name.includes('Agent'))
      expect(ofType(all, 'TOOL_CALL_RESULT')[0]?.content).toContain('took longer than 1000 ms')
    expect(textIn(all)).toContain('It did not work.')
    if (!name.includes('ignores')) expect(rig.isStopped()).toBe(true)
    expect(all.at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
  })

  it('ADK, after an approval', async () => {
    const rig = hanging()
    const pay = new FunctionTool({
      ...{ name: 'hang', description: 'Hangs.', parameters: z.object({}), requireConfirmation: true },
      execute: (_, context) => rig.hang(context?.abortSignal),
    })
    const model = new ScriptedLlm([callsTool({ name: 'hang' }), says('It did not work.')])
    const agent = fromAdk(new LlmAgent({ name: 'helper', model, tools: [pay] }))
    const clock = manualClock()
    const served = await serveAgents({ agents: [agent], clock, limits: { toolTimeoutMs: 1000 } })
    const talk = served.talk()
    const [interrupt] = interruptsIn(await talk.say('Pay.'))
    const resumed = talk.send({ resume: toResume({ [interrupt?.id ?? '']: { approved: true } }) })
    await rig.called
    await clock.advance(1000)
    const events = await resumed
    expect(ofType(events, 'TOOL_CALL_RESULT')[0]?.content).toContain('took longer than 1000 ms')
    expect(textIn(events)).toBe('It did not work.')
  })

  it('ADK, as a node of a workflow', async () => {
    const make = (rig: Hanging): Agent =>
      fromAdk(new Workflow({ name: 'flow', edges: [[START, new ToolNode(adkTool(rig))]] }))
    const limits = { toolTimeoutMs: 1000 }
    const { clock, events } = await serveHanging(make, { limits, text: '{}' })
    await clock.advance(1000)
    const [last] = (await events()).slice(-1)
    expect(JSON.stringify(last)).toContain('took longer than 1000 ms')
  })

  it('LangGraph, when the code of a node calls it: the run fails, since nothing else can be stopped', async () => {
    const make = (rig: Hanging): Agent => {
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('work', async () => {
          const found: unknown = await graphTool(rig).invoke({})
          return { messages: [new AIMessage(String(found))] }
        })
        .addEdge(GRAPH_START, 'work')
        .compile()
      return fromLangGraph(graph, { name: 'helper' })
    }
    const { clock, events } = await serveHanging(make, { limits: { toolTimeoutMs: 1000 } })
    await clock.advance(1000)
    expect((await events()).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'TOOL_ERROR' })
  })

  it('does nothing to a graph that something else runs', async () => {
    const fine = tool(() => Promise.resolve('fine'), {
      ...{ name: 'hang', description: 'Is fine.', schema: z.object({}) },
    })
    const agent = createAgent({ model: graphModel(), tools: [fine] })
    fromLangGraph(agent, { name: 'helper' })
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Try it.' }] })
    expect(messages.map(({ text }) => text)).toContain('fine')
  })
})

describe('an agent has limits of its own', () => {
  const limited = (agent: Agent, limits: Agent['limits']): Agent => ({ ...agent, ...(limits && { limits }) })

  it.each(Object.entries(agents))('for its tools: %s', async (_, make) => {
    const { clock, events } = await serveHanging((rig) => limited(make(rig), { toolTimeoutMs: 50 }))
    await clock.advance(50)
    expect(textIn(await events())).toContain('It did not work.')
  })

  it.each(Object.entries(agents))('for its run, shorter than the server’s: %s', async (_, make) => {
    const { clock, events } = await serveHanging((rig) => limited(make(rig), { runTimeoutMs: 50 }))
    await clock.advance(50)
    await clock.advance(1000)
    expect((await events()).at(-1)).toMatchObject({
      ...{ type: 'RUN_ERROR', code: 'EXECUTION_TIMEOUT', message: 'The run took longer than 50 ms.' },
    })
  })

  it('for its run, longer than the server’s', async () => {
    const limits = { runTimeoutMs: 100, toolTimeoutMs: 500 }
    const { clock, events } = await serveHanging(
      (rig) => fromAdk(...adkParts(rig), { limits: { runTimeoutMs: 10_000 } }),
      { limits },
    )
    await clock.advance(500)
    expect(textIn(await events())).toBe('It did not work.')
  })

  function adkParts(rig: Hanging): [LlmAgent] {
    const model = new ScriptedLlm([callsTool({ name: 'hang' }), says('It did not work.')])
    return [new LlmAgent({ name: 'helper', model, tools: [adkTool(rig)] })]
  }

  it('and the hook `runtimeTimeout` is called when they are over', async () => {
    const { clock, events } = await serveHanging((rig) => limited(adkAgent(rig), { runTimeoutMs: 50 }), {
      hooks: {
        runtimeTimeout: () => [{ type: 'TEXT_MESSAGE_CHUNK', messageId: 'late', delta: 'Sorry.' }],
      },
    })
    await clock.advance(50)
    await clock.advance(1000)
    expect(textIn(await events())).toBe('Sorry.')
  })

  it('as a part of another agent: only that part fails', async () => {
    const make = (rig: Hanging): Agent => {
      const slow = limited({ ...adkAgent(rig), name: 'slow', description: 'Tries.' }, { runTimeoutMs: 50 })
      const call = { name: 'slow', args: { request: 'Go.' } }
      const model = scriptedModel([[{ toolCall: call }], 'Then not.'])
      return defineAgent({ name: 'lead', model, tools: [agentTool(slow)] })
    }
    const { clock, rig, events } = await serveHanging(make)
    await clock.advance(50)
    const all = await events()
    expect(ofType(all, 'SUBAGENT_ERROR')).toMatchObject([{ code: 'EXECUTION_TIMEOUT' }])
    expect(ofType(all, 'TOOL_CALL_RESULT').at(-1)?.content).toContain("Agent 'slow' took longer than 50 ms.")
    expect(textIn(all)).toBe('Then not.')
    expect(rig.isStopped()).toBe(true)
  })

  it('and those below it have its limit for tools', async () => {
    const { clock, events } = await serveHanging((rig) =>
      sequential({ name: 'steps', agents: [adkAgent(rig)], limits: { toolTimeoutMs: 50 } }),
    )
    await clock.advance(50)
    expect(textIn(await events())).toBe('It did not work.')
  })

  it('in a run without a server too, for all attempts together', async () => {
    const clock = manualClock()
    const rig = hanging()
    const agent = withRetry(limited(adkAgent(rig), { runTimeoutMs: 50 }))
    const started = run(agent, 'Try it.', { clock })
    await rig.called
    await clock.advance(50)
    await clock.advance(1000)
    expect(await started.result).toMatchObject({ type: 'failed', error: { code: 'EXECUTION_TIMEOUT' } })
  })

  it('and a limit that is no time is refused', () => {
    expect(() => sequential({ name: 's', agents: [], limits: { runTimeoutMs: -1 } })).toThrow('no agents')
    const model = new ScriptedLlm([])
    expect(() => fromAdk(new LlmAgent({ name: 'helper', model }), { limits: { runTimeoutMs: -1 } })).toThrow(
      'limits.runTimeoutMs',
    )
  })
})
