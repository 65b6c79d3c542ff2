import { FunctionTool, LlmAgent } from '@google/adk'
import { tool } from '@langchain/core/tools'
import { MemorySaver } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { defineAgent, defineTool } from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { callsTool, partial, says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { callChunks } from '../support/langgraph/fake-model.js'
import { agentModel } from '../support/langgraph/serve-graph.js'
import { aborted, deferred } from '../support/run-agent.js'
import { clientVersions, linesOf, serveAgents } from '../support/serve-agents.js'
import { historyOf, textIn } from '../support/adk/serve-adk.js'
import {
  endlessAgent,
  lastRunOf,
  passTime,
  stopByHangingUp,
  type EndlessAgent,
  type Stopped,
} from './support-stop.js'

/**
 * Most clients know one way to stop: they hang up. A run that nobody follows yields to the next message, and is cancelled
 * after `limits.abandonedMs`, unless its client has said that it reconnects.
 */

const work = { name: 'work', description: 'Works, deaf to its signal.' }

/** A tool that ignores its signal, and tells that it got it. */
function deafTool() {
  const [begun, stopped, letGo] = [deferred(), deferred(), deferred()]
  const execute = async (signal: AbortSignal | undefined): Promise<string> => {
    signal?.addEventListener('abort', () => stopped.resolve())
    begun.resolve()
    await letGo.promise
    return 'too late'
  }
  return { execute, begun: begun.promise, stopped: stopped.promise, letGo: () => letGo.resolve() }
}

function kitWithDeafTool(): EndlessAgent {
  const { execute, ...held } = deafTool()
  const model = scriptedModel((_, index) =>
    index === 0 ? ['One ', { toolCall: { id: 'c1', name: 'work' } }] : 'Fine.',
  )
  const tools = [defineTool({ ...work, execute: (_args, { signal }) => execute(signal) })]
  return { ...held, agent: defineAgent({ name: 'kit', model, tools }) }
}

const withDeafTool: Readonly<Record<string, () => EndlessAgent>> = {
  kit: kitWithDeafTool,
  ADK() {
    const { execute, ...held } = deafTool()
    const run = (_args: unknown, context?: { readonly abortSignal?: AbortSignal }) =>
      execute(context?.abortSignal)
    const tools = [new FunctionTool({ ...work, parameters: z.object({}), execute: run })]
    const fine = says('Fine.')
    const model = new ScriptedLlm([[partial('One '), ...callsTool({ name: 'work' })], fine, fine, fine])
    return { ...held, agent: fromAdk(new LlmAgent({ name: 'adk', model, tools })) }
  },
  LangGraph() {
    const { execute, ...held } = deafTool()
    const run = (_args: unknown, config: { readonly signal?: AbortSignal }) => execute(config.signal)
    const tools = [tool(run, { ...work, schema: z.object({}) })]
    const model = agentModel([['One ', ...callChunks('c1', 'work', {})], ['Fine.'], ['Fine.'], ['Fine.']])
    const { graph } = createAgent({ model, tools, checkpointer: new MemorySaver() })
    return { ...held, agent: fromLangGraph(graph, { name: 'graph' }) }
  },
}

const withEndlessModel: Readonly<Record<string, () => EndlessAgent>> = {
  kit: () => endlessAgent(),
  ADK() {
    const [begun, stopped] = [deferred(), deferred()]
    const fine = says('Fine.')
    const model = new ScriptedLlm([
      async function* (_, signal) {
        yield partial('One ')
        begun.resolve()
        if (signal) await aborted(signal)
        stopped.resolve()
      },
      ...[fine, fine, fine],
    ])
    const agent = fromAdk(new LlmAgent({ name: 'adk', model }))
    return { agent, begun: begun.promise, stopped: stopped.promise, letGo: () => undefined }
  },
  LangGraph() {
    const [begun, stopped] = [deferred(), deferred()]
    const model = agentModel([['One ', 'two '], ['Fine.'], ['Fine.'], ['Fine.']])
    const answer = model._streamResponseChunks.bind(model)
    model._streamResponseChunks = async function* (messages, options, manager) {
      const { signal } = options
      let pieces = model.calls.length === 0 ? 2 : Infinity
      for await (const chunk of answer(messages, options, manager)) {
        if (--pieces === 0 && signal) {
          begun.resolve()
          await aborted(signal)
          stopped.resolve()
        }
        yield chunk
      }
    }
    const { graph } = createAgent({ model, tools: [], checkpointer: new MemorySaver() })
    const agent = fromLangGraph(graph, { name: 'graph' })
    return { agent, begun: begun.promise, stopped: stopped.promise, letGo: () => undefined }
  },
}

/** The answer to the next message. The time stands still until the run before has been told to stop. */
async function answerTo(text: string, { clock, talk }: Stopped, stopped: Promise<void>): Promise<string> {
  const answer = talk.say(text)
  await stopped
  return textIn(await passTime(clock, answer))
}

describe.each(clientVersions)('a client that hangs up and writes again: $version', ({ Client }) => {
  it.each(Object.entries(withEndlessModel))('stops the model and is answered: %s', async (_, make) => {
    const one = make()
    const stopped = await stopByHangingUp(one, { Client })
    expect(await answerTo('Hello.', stopped, one.stopped)).toBe('Fine.')
    const { served } = stopped
    expect(linesOf(await historyOf(served))).toEqual([
      ...['user: Count.', 'assistant: One '],
      ...['user: Hello.', 'assistant: Fine.'],
    ])
    expect(await lastRunOf(served)).toBe('completed')
  })

  it.each(Object.entries(withDeafTool))('is answered while a deaf tool works: %s', async (_, make) => {
    const one = make()
    const stopped = await stopByHangingUp(one, { Client })
    expect(await answerTo('Hello.', stopped, one.stopped)).toBe('Fine.')
    one.letGo()
    expect(await answerTo('Again.', stopped, Promise.resolve())).toBe('Fine.')
    const lines = linesOf(await historyOf(stopped.served))
    expect(lines.slice(-4)).toEqual([
      ...['user: Hello.', 'assistant: Fine.'],
      ...['user: Again.', 'assistant: Fine.'],
    ])
    expect(lines.join()).not.toContain('too late')
  })

  it.each(['wait', 'preempt', 'cancel-previous'] as const)(
    'is answered at once, whatever a busy thread does else (%s)',
    async (whenBusy) => {
      const one = kitWithDeafTool()
      const stopped = await stopByHangingUp(one, { Client, whenBusy })
      expect(await answerTo('Hello.', stopped, one.stopped)).toBe('Fine.')
    },
  )
})

it('a client that hangs up and writes in the same moment is answered, every time', async () => {
  const waits = Array.from({ length: 50 }, () => deferred())
  const model = scriptedModel((_, index) => [
    'One ',
    {
      wait: async (signal) => {
        waits[index]?.resolve()
        await aborted(signal)
      },
    },
  ])
  const served = await serveAgents({ agents: [defineAgent({ name: 'speaker', model })] })
  const talk = served.talk()
  for (const { promise } of waits) {
    const running = talk.say('Count.')
    await promise
    talk.client.abortRun()
    await running
  }
  expect(model.requests).toHaveLength(waits.length)
})
