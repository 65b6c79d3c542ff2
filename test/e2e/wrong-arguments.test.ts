import { HttpAgent } from '@ag-ui/client'
import { createOpenAI } from '@ai-sdk/openai'
import { FunctionTool, LlmAgent } from '@google/adk'
import { tool } from '@langchain/core/tools'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { deepAgent, planExecute, supervisor } from '../../src/agents/prebuilt/index.js'
import { MillraceError } from '../../src/core/errors.js'
import {
  agentTool,
  createTurnLoop,
  defineAgent,
  defineTool,
  fileWorkspace,
  loop,
  mcpTools,
  parallel,
  run,
  sequential,
  skills,
  team,
  toolSearch,
  transferAfter,
  withHistory,
  withRetry,
} from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { fromAgUi, toAgUi } from '../../src/remote/index.js'
import { createServer } from '../../src/server/index.js'
import { ScriptedLlm } from '../support/adk/scripted-llm.js'
import { agentModel } from '../support/langgraph/serve-graph.js'

/** Whatever people without types may pass. */
type Wrong = never

const model = scriptedModel(() => 'Hi.')
const good = defineAgent({ name: 'good', description: 'Good.', model })
const adk = new LlmAgent({ name: 'helper', model: new ScriptedLlm([]) })
const uncompiled = new StateGraph(MessagesAnnotation).addNode('say', () => ({})).addEdge(START, 'say')

/** Each says what to do, and what was wrong: never a TypeError of ours. */
function expectAdvice(make: () => unknown, ...parts: readonly (string | RegExp)[]): void {
  let error: unknown
  try {
    make()
  } catch (thrown) {
    error = thrown
  }
  expect(error).toBeInstanceOf(MillraceError)
  expect(error).toMatchObject({ code: 'INVALID_AGENT' })
  for (const part of parts) expect(String(error)).toMatch(part)
}

const notAgents: readonly [what: string, value: unknown, advice: RegExp][] = [
  ['undefined', undefined, /is no agent: it is undefined/],
  ['null', null, /is no agent: it is null/],
  ['a text', 'good', /is no agent: it is a string/],
  ['a promise', Promise.resolve(good), /is a promise: await it/],
  ['a function', () => good, /is no agent: it is a function/],
  ['an object without a run', { name: 'thing', description: '' }, /'thing' is no agent/],
  [
    'an object whose run is no function',
    { name: 'thing', description: '', run: true },
    /'thing' is no agent/,
  ],
  ['an object without a name', { description: '', run: () => undefined }, /is no agent/],
  ['an agent of ADK', adk, /fromAdk/],
  ['a graph', uncompiled.compile(), /fromLangGraph/],
  ['an agent of the client', new HttpAgent({ url: 'http://localhost:1' }), /fromAgUi/],
]

const positions: readonly [where: string, make: (agent: Wrong) => unknown][] = [
  ['run', (agent) => run(agent, 'Hi.')],
  ['createTurnLoop', (agent) => createTurnLoop(agent)],
  ['createServer', (agent) => createServer({ agents: [agent] })],
  ['toAgUi', (agent) => toAgUi(agent)],
  ['sequential', (agent) => sequential({ name: 'flow', agents: [good, agent] })],
  ['loop', (agent) => loop({ name: 'flow', agents: [agent] })],
  ['parallel', (agent) => parallel({ name: 'flow', agents: [agent] })],
  ['team, lead', (agent) => team({ lead: agent, members: [good] })],
  ['team, members', (agent) => team({ lead: good, members: [agent] })],
  ['supervisor, workers', (agent) => supervisor({ name: 'lead', model, workers: [agent] })],
  ['defineAgent, subAgents', (agent) => defineAgent({ name: 'lead', model, subAgents: [agent] })],
  ['deepAgent, subAgents', (agent) => deepAgent({ name: 'deep', model, subAgents: [agent] })],
  ['planExecute, executor', (agent) => planExecute({ name: 'plan', planner: model, executor: agent })],
  ['agentTool', (agent) => agentTool(agent)],
  ['transferAfter', (agent) => transferAfter(agent, 'good')],
  ['withRetry', (agent) => withRetry(agent)],
  ['withHistory', (agent) => withHistory(agent, undefined)],
]

describe.each(positions)('%s, with what is no agent', (_where, make) => {
  it.each(notAgents)('says what to write: %s', (_what, value, advice) => {
    expectAdvice(() => make(value as Wrong), advice)
  })
})

describe('the lead of a supervisor', () => {
  it.each(notAgents.slice(2))('that is no agent is refused: %s', (_what, value, advice) => {
    expectAdvice(() => supervisor({ lead: value as Wrong, workers: [good] }), advice)
  })

  it.each([undefined, null])('that is %s, without a model in its place, is said to be missing', (lead) => {
    expectAdvice(() => supervisor({ lead: lead as Wrong, workers: [good] }), '`lead`', '`name` and `model`')
  })
})

describe.each(['planner', 'replanner'])('the %s of a plan', (role) => {
  const plan = (value: unknown) => () =>
    planExecute({ name: 'plan', planner: model, executor: good, [role]: value as Wrong })

  it.each(notAgents.slice(8))(
    'that is an agent of another runtime is refused: %s',
    (_what, value, advice) => {
      expectAdvice(plan(value), advice)
    },
  )

  it.each([null, 'gpt', 5, {}, Promise.resolve(model), () => model])(
    'that is neither a model nor an agent is refused: %s',
    (value) => expectAdvice(plan(value), role),
  )
})

it('a plan without a planner is refused', () => {
  expectAdvice(() => planExecute({ name: 'plan', executor: good } as Wrong), 'planner')
})

const lists: readonly [where: string, option: string, make: (list: Wrong) => unknown][] = [
  ['createServer', 'agents', (agents) => createServer({ agents })],
  ['sequential', 'agents', (agents) => sequential({ name: 'flow', agents })],
  ['loop', 'agents', (agents) => loop({ name: 'flow', agents })],
  ['parallel', 'agents', (agents) => parallel({ name: 'flow', agents })],
  ['team', 'members', (members) => team({ lead: good, members })],
  ['supervisor', 'workers', (workers) => supervisor({ name: 'lead', model, workers })],
  ['supervisor with a lead', 'workers', (workers) => supervisor({ lead: good, workers })],
]

describe.each(lists)('%s', (_where, option, make) => {
  it.each([undefined, null, good, 'good', []])(`needs a list of agents: %s`, (list) => {
    expectAdvice(() => make(list as Wrong), `\`${option}\``)
  })
})

it.each([null, good, 'good'])('subagents that are no list are refused: %s', (subAgents) => {
  expectAdvice(() => defineAgent({ name: 'a', model, subAgents: subAgents as Wrong }), '`subAgents`')
  expectAdvice(() => deepAgent({ name: 'a', model, subAgents: subAgents as Wrong }), '`subAgents`')
})

const teams: readonly [where: string, make: (members: Wrong) => unknown][] = [
  ['team', (members) => team({ lead: good, members })],
  ['supervisor', (workers) => supervisor({ name: 'lead', model, workers })],
  ['defineAgent', (subAgents) => defineAgent({ name: 'lead', model, subAgents })],
  ['deepAgent', (subAgents) => deepAgent({ name: 'lead', model, subAgents })],
]

describe.each(teams)('%s', (_where, make) => {
  const other = (description: unknown) => ({ name: 'other', description, run: () => undefined })

  it.each([undefined, null, '', ' ', 5])('refuses a member whose description is %j', (description) => {
    expectAdvice(() => make([other(description)] as Wrong), "Agent 'other' needs a description")
  })

  it('refuses two members of one name', () => {
    expectAdvice(
      () => make([other('One.'), other('Two.')] as Wrong),
      /two agents (named 'other'|of one name)/,
    )
  })
})

it('an agent as a tool needs a description', () => {
  const bare = { name: 'bare', run: () => undefined } as Wrong
  expectAdvice(() => agentTool(bare), "Agent 'bare' needs a description")
})

const factories: readonly [name: string, make: (options: Wrong) => unknown, rest: object][] = [
  ['defineAgent', defineAgent, { model }],
  ['deepAgent', deepAgent, { model }],
  ['sequential', sequential, { agents: [good] }],
  ['loop', loop, { agents: [good] }],
  ['parallel', parallel, { agents: [good] }],
  ['supervisor', supervisor, { model, workers: [good] }],
  ['planExecute', planExecute, { planner: model, executor: good }],
  ['defineTool', defineTool, { description: 'Works.', execute: () => 1 }],
]

describe.each(factories)('%s', (_factory, make, rest) => {
  it.each([undefined, null, 'name', 5])('takes options, not %s', (options) => {
    expectAdvice(() => make(options as Wrong), /needs|takes/)
  })

  it.each([undefined, null, '', '  ', 5])('needs a name, not %j', (name) => {
    expectAdvice(() => make({ ...rest, name } as Wrong), /name/)
  })
})

it.each([undefined, null, 'team'])('a team takes options, not %s', (options) => {
  expectAdvice(() => team(options as Wrong), '`team`')
})

const notModels: readonly [what: string, value: unknown, advice: RegExp][] = [
  ['undefined', undefined, /needs a model/],
  ['a name', 'gpt-5', /needs a model.*'gpt-5'/],
  ['a promise', Promise.resolve(model), /await/],
  ['a model of the AI SDK', createOpenAI({ apiKey: 'none' })('gpt-5'), /fromAiSdk/],
  ['a model of LangChain', agentModel([]), /LangChain/],
  ['a model of ADK', new ScriptedLlm([]), /ADK/],
]

describe.each(notModels)('%s is no model, and the error says what to write', (_what, value, advice) => {
  it('as the model of an agent', () => {
    expectAdvice(() => defineAgent({ name: 'a', model: value as Wrong }), advice)
    expectAdvice(() => supervisor({ name: 'a', model: value as Wrong, workers: [good] }), advice)
    expectAdvice(() => deepAgent({ name: 'a', model: value as Wrong }), advice)
  })

  it('for failover', () => {
    expectAdvice(() => defineAgent({ name: 'a', model, failover: [value as Wrong] }), advice)
  })
})

const notTools: readonly [what: string, value: unknown, advice: RegExp][] = [
  ['undefined', undefined, /defineTool/],
  ['a function', () => 1, /defineTool/],
  ['an agent', good, /agentTool/],
  ['an agent of ADK', adk, /fromAdk/],
  [
    'a tool of ADK',
    new FunctionTool({ name: 'look', description: 'Looks.', parameters: z.object({}), execute: () => 1 }),
    /defineTool/,
  ],
  ['a tool of LangChain', tool(() => 1, { name: 'look', schema: z.object({}) }), /defineTool/],
  ['an MCP server', { command: 'npx' }, /mcpTools/],
  ['an MCP server elsewhere', { url: 'http://localhost:1/mcp' }, /mcpTools/],
]

describe('tools', () => {
  it.each(notTools)('that are none are refused: %s', (_what, value, advice) => {
    expectAdvice(() => defineAgent({ name: 'a', model, tools: [value as Wrong] }), advice)
    expectAdvice(() => deepAgent({ name: 'a', model, tools: [value as Wrong] }), advice)
  })

  it.each([null, good, 'look', () => 1])('that are no list are refused: %s', (tools) => {
    expectAdvice(() => defineAgent({ name: 'a', model, tools: tools as Wrong }), '`tools`')
  })
})

it.each([null, {}, 'todo'])('middlewares that are no list are refused: %s', (middlewares) => {
  expectAdvice(() => defineAgent({ name: 'a', model, middlewares: middlewares as Wrong }), '`middlewares`')
})

it.each([undefined, null, () => ({})])('a middleware that is none is refused: %s', (middleware) => {
  expectAdvice(() => defineAgent({ name: 'a', model, middlewares: [middleware as Wrong] }), 'todoList')
})

it.each<[string, (options: Wrong) => unknown]>([
  ['fileWorkspace', fileWorkspace],
  ['skills', skills],
  ['toolSearch', toolSearch],
  ['mcpTools', mcpTools],
])('%s says what it takes', (_name, make) => {
  for (const options of [undefined, null, 'all', {}]) expectAdvice(() => make(options as Wrong))
})

describe('other runtimes', () => {
  it.each([undefined, null, 'helper', {}, good])('fromAdk refuses %s', (root) => {
    expectAdvice(() => fromAdk(root as Wrong), '`fromAdk`')
  })

  it.each([undefined, null, 'graph', {}, good, adk])('fromLangGraph refuses %s', (graph) => {
    expectAdvice(() => fromLangGraph(graph as Wrong, { name: 'graph' }), '`fromLangGraph`')
  })

  it('fromLangGraph refuses a graph that is not compiled', () => {
    expectAdvice(() => fromLangGraph(uncompiled as Wrong, { name: 'graph' }), '.compile()')
  })

  it.each([undefined, null, 'http://localhost:1', {}, good, adk])('fromAgUi refuses %s', (agent) => {
    expectAdvice(() => fromAgUi(agent as Wrong, { name: 'far' }), '`fromAgUi`')
  })
})
