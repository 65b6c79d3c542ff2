import type { Message } from '@ag-ui/core'
import { LlmAgent } from '@google/adk'
import { createAgent } from 'langchain'
import { expect, it } from 'vitest'
import { fromAdk } from '../../src/adk/index.js'
import { defineAgent, run, type Agent } from '../../src/agents/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { agentModel } from '../support/langgraph/serve-graph.js'

const kitModel = scriptedModel(['A cat.'])
const llm = new ScriptedLlm([says('A cat.')])
const graphModel = agentModel([['A cat.']])

const agents: readonly [string, Agent, () => unknown][] = [
  ['kit', defineAgent({ name: 'helper', model: kitModel }), () => kitModel.requests[0]?.messages],
  ['ADK', fromAdk(new LlmAgent({ name: 'helper', model: llm })), () => llm.calls[0]],
  [
    'LangGraph',
    fromLangGraph(createAgent({ model: graphModel, tools: [] }), { name: 'helper' }),
    () => graphModel.calls[0],
  ],
]

it.each(agents)(
  'an old `binary` part in a run without a server reaches the model: %s',
  async (_, agent, seen) => {
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'binary', mimeType: 'image/png', data: 'aGVsbG8=' },
      { type: 'binary', mimeType: 'image/png' },
    ]
    const problems: string[] = []
    const messages = [{ id: 'u1', role: 'user', content } as unknown as Message]
    const outcome = await run(agent, messages, { onProblem: (problem) => problems.push(problem) }).result
    expect(outcome).toMatchObject({ type: 'completed', text: 'A cat.' })
    expect(JSON.stringify(seen())).toContain('aGVsbG8=')
    expect(problems.join()).toContain('messages[0].content[2]')
  },
)
