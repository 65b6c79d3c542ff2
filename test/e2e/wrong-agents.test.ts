import { HttpAgent } from '@ag-ui/client'
import { FunctionTool, LlmAgent, START as ADK_START, Workflow } from '@google/adk'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { defineAgent, run, sequential, type Agent } from '../../src/agents/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { fromAgUi } from '../../src/remote/index.js'
import { createServer } from '../../src/server/index.js'
import { says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { agentModel } from '../support/langgraph/serve-graph.js'

const adkAgent = () => new LlmAgent({ name: 'helper', model: new ScriptedLlm([says('Hi.')]) })
const graph = () =>
  new StateGraph(MessagesAnnotation)
    .addNode('say', () => ({}))
    .addEdge(START, 'say')
    .compile()

const bare: readonly [string, unknown, string][] = [
  ['an agent of ADK', adkAgent(), 'fromAdk'],
  ['a workflow of ADK', new Workflow({ name: 'flow', edges: [[ADK_START, adkAgent()]] }), 'fromAdk'],
  ['an app of ADK', { name: 'app', rootAgent: adkAgent(), plugins: [] }, 'fromAdk'],
  ['a graph', graph(), 'fromLangGraph'],
  ['the result of createAgent', createAgent({ model: agentModel([]), tools: [] }), 'fromLangGraph'],
  ['an agent of @ag-ui/client', new HttpAgent({ url: 'http://localhost:1' }), 'fromAgUi'],
  ['nothing', undefined, 'is no agent'],
  ['something else', { name: 'thing' }, "'thing' is no agent"],
]

describe.each(bare)('%s is no agent, and is told at once what to write', (_, value, expected) => {
  const agent = value as Agent

  it('by a server', () => {
    expect(() => createServer({ agents: [agent] })).toThrow(expected)
  })

  it('by a run, a workflow and a team', () => {
    expect(() => run(agent, 'Hi.')).toThrow(expected)
    expect(() => sequential({ name: 'steps', agents: [agent] })).toThrow(expected)
    const model = scriptedModel([])
    expect(() => defineAgent({ name: 'lead', model, subAgents: [agent] })).toThrow(expected)
  })
})

describe('an option that does not exist is refused', () => {
  const typo = { predict_state: [] } as object

  it.each([
    ['fromAdk', () => fromAdk(adkAgent(), typo)],
    ['fromLangGraph', () => fromLangGraph(graph(), { name: 'graph', ...typo })],
    ['fromAgUi', () => fromAgUi(new HttpAgent({ url: 'http://localhost:1' }), { name: 'far', ...typo })],
  ])('%s', (name, make) => {
    expect(make).toThrow(`\`${name}\` has no option 'predict_state'`)
  })
})

it('predicted state of a tool that no agent has is refused, where that is known', () => {
  const look = new FunctionTool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({}),
    execute: () => 1,
  })
  const agent = () => new LlmAgent({ name: 'helper', model: new ScriptedLlm([]), tools: [look] })
  const predict = (tool: string) => ({ predictState: [{ stateKey: 'seen', tool }] })
  expect(() => fromAdk(agent(), { ...predict('lok'), clientTools: 'nowhere' })).toThrow("'lok'")
  fromAdk(agent(), { ...predict('look'), clientTools: 'nowhere' })
  // The client may have it.
  fromAdk(agent(), predict('lok'))
})

it.each([-1, 0, Number.NaN, '5'])('a limit of %s is refused when the server is made', (runTimeoutMs) => {
  const agent = defineAgent({ name: 'a', model: scriptedModel([]) })
  const limited = { ...agent, limits: { runTimeoutMs: runTimeoutMs as number } }
  expect(() => createServer({ agents: [limited] })).toThrow(/runTimeoutMs/)
})

it.each([['role'], [[5]], [['']], [{ role: true }]])(
  'private keys of %j are refused when the agent is made, and when it is served',
  (keys) => {
    const privateKeys = keys as string[]
    expect(() => fromLangGraph(graph(), { name: 'g', privateKeys })).toThrow(/privateKeys/)
    const agent = { ...defineAgent({ name: 'a', model: scriptedModel([]) }), privateKeys }
    expect(() => createServer({ agents: [agent] })).toThrow(/privateKeys/)
    expect(() => sequential({ name: 'flow', agents: [agent] })).toThrow(/privateKeys/)
  },
)
