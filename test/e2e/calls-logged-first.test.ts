import { FunctionTool, LlmAgent } from '@google/adk'
import { tool } from '@langchain/core/tools'
import { MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { defineAgent, defineTool, type Agent } from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { createServer } from '../../src/server/index.js'
import { serve } from '../../src/server/node.js'
import type { Store } from '../../src/threads/contract.js'
import { createMemoryStore } from '../../src/threads/memory/store.js'
import { callsTool, says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { callChunks } from '../support/langgraph/fake-model.js'
import { agentModel } from '../support/langgraph/serve-graph.js'
import { deferred } from '../support/run-agent.js'
import { inputOf, user } from './support-server.js'
import { runWhole, textIn } from './support-stream.js'

const work = { name: 'work', description: 'Works.' }
type Execute = () => string

function kit(execute: Execute): Agent {
  const model = scriptedModel([[{ toolCall: { name: 'work' } }], 'Done.'])
  return defineAgent({ name: 'kit', model, tools: [defineTool({ ...work, execute })] })
}

function adk(execute: Execute): Agent {
  const tools = [new FunctionTool({ ...work, parameters: z.object({}), execute })]
  return fromAdk(
    new LlmAgent({
      name: 'adk',
      model: new ScriptedLlm([callsTool({ name: 'work' }), says('Done.')]),
      tools,
    }),
  )
}

function chat(execute: Execute, rest: { readonly checkpointer?: MemorySaver }) {
  const model = agentModel([[...callChunks('c1', 'work', {})], ['Done.']])
  return createAgent({ model, tools: [tool(execute, { ...work, schema: z.object({}) })], ...rest }).graph
}

function graph(execute: Execute): Agent {
  return fromLangGraph(chat(execute, { checkpointer: new MemorySaver() }), { name: 'graph' })
}

function graphInGraph(execute: Execute): Agent {
  const outer = new StateGraph(MessagesAnnotation).addNode('inner', chat(execute, {})).addEdge(START, 'inner')
  return fromLangGraph(outer.compile({ checkpointer: new MemorySaver() }), { name: 'outer' })
}

/** A store whose log takes no end of a call until it is let go. */
function holdingStore() {
  const inner = createMemoryStore()
  const [held, letGo] = [deferred(), deferred()]
  const store: Store = {
    ...inner,
    log: {
      ...inner.log,
      async append(lease, batch) {
        if (batch.lines.some((line) => line.includes('TOOL_CALL_END'))) {
          held.resolve()
          await letGo.promise
        }
        return inner.log.append(lease, batch)
      },
    },
  }
  return { store, held, letGo }
}

it.each([
  ['the kit', kit],
  ['ADK', adk],
  ['LangGraph', graph],
  ['LangGraph in a graph', graphInGraph],
])('a tool of %s does not begin before the end of its call is in the log', async (_, make) => {
  let begun = 0
  const agent = make(() => `done ${++begun}`)
  const { store, held, letGo } = holdingStore()
  const serving = await serve(createServer({ agents: [agent], store }), { port: 0, signals: false })
  onTestFinished(() => {
    letGo.resolve()
    return serving.close({ graceMs: 0 })
  })
  const running = runWhole(serving.url, inputOf({ messages: [user('u1', 'Go')] }))
  await held.promise
  // All that can happen meanwhile has happened after some turns of the event loop.
  for (let turn = 0; turn < 100; turn++) await nextTurn()
  expect(begun).toBe(0)
  letGo.resolve()
  expect(textIn(await running)).toBe('Done.')
  expect(begun).toBe(1)
})
