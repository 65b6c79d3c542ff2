import { AgentTool, FunctionTool, LlmAgent, SequentialAgent, START, Workflow } from '@google/adk'
import { tool } from '@langchain/core/tools'
import { END, MessagesAnnotation, START as GRAPH_START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { HttpAgent } from '@ag-ui/client'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { deepAgent, planExecute, supervisor } from '../../src/agents/prebuilt/index.js'
import {
  agentTool,
  defineAgent,
  defineTool,
  loop,
  parallel,
  sequential,
  team,
  withRetry,
  type Agent,
} from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { fromAgUi } from '../../src/remote/index.js'
import type { AuditEvent, ServerOptions } from '../../src/server/index.js'
import { callsTool, says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { FakeModel } from '../support/langgraph/fake-model.js'
import { as, identify, runFile, runTo } from './support-console.js'
import { ask, serving } from './support-server.js'

const model = scriptedModel(() => 'Fine.', { provider: 'acme', modelId: 'm1' })
const weather = defineTool({
  name: 'weather',
  description: 'The weather in a city.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => `Rain in ${city}.`,
})

function chat(name: string, more: object = {}): Agent {
  return defineAgent({ name, description: `Is ${name}.`, instructions: 'Hidden words.', model, ...more })
}

interface Node {
  readonly name: string
  readonly kind: string
  readonly tools: readonly { readonly name: string; readonly canCall: boolean }[]
  readonly agents: readonly Node[]
  readonly ref?: string
}

/** `kind name [tools] (parts)`, in one line. */
function lineOf({ name, kind, tools, agents, ref }: Node): string {
  if (ref !== undefined) return `-> ${ref}`
  const own = tools.length > 0 ? ` [${tools.map((one) => one.name).join(', ')}]` : ''
  return `${kind} ${name}${own}${agents.length > 0 ? ` (${agents.map(lineOf).join('; ')})` : ''}`
}

async function sessionOf(
  options: ServerOptions,
  headers: Record<string, string> = {},
): Promise<{ readonly agents: readonly Node[] } & Record<string, unknown>> {
  const { url } = await serving({ console: true, ...options })
  const { status, body } = await ask(`${url}/console/api/session`, { headers })
  expect(status).toBe(200)
  expect(JSON.stringify(body)).not.toContain('Hidden')
  return body as never
}

async function linesOf(...agents: [Agent, ...Agent[]]): Promise<string[]> {
  return (await sessionOf({ agents })).agents.map(lineOf)
}

describe('the session', () => {
  it('says who the user is, and what the page may do', async () => {
    expect(await sessionOf({ agents: [chat('a', { examples: ['Hi?'] })] })).toMatchObject({
      ...{ user: 'local', app: 'default', isOperator: true, version: '0.0.0', foreign: false },
      agents: [{ name: 'a', description: 'Is a.', kind: 'chat', model: 'acme/m1', examples: ['Hi?'] }],
    })
    const asAnn = await sessionOf({ agents: [chat('a')], identify, console: { foreign: true } }, as('ann'))
    expect(asAnn).toMatchObject({ user: 'ann', isOperator: false, foreign: true })
  })

  it('draws the agents of the kit, whatever is around them', async () => {
    const child = chat('child', { tools: [weather] })
    expect(
      await linesOf(
        withRetry(chat('lead', { tools: [agentTool(child)], subAgents: [chat('other')] })),
        sequential({ name: 'steps', agents: [chat('one'), chat('one')] }),
        parallel({ name: 'views', agents: [child] }),
        loop({ name: 'round', agents: [child] }),
        supervisor({ name: 'boss', model, workers: [chat('worker')] }),
        planExecute({ name: 'plan', planner: model, executor: child }),
        team({ lead: child, members: [chat('member')] }),
      ),
    ).toEqual([
      'chat lead [child] (chat child [weather]; chat other)',
      'sequence steps (chat one; chat one)',
      'parallel views (chat child [weather])',
      'loop round (chat child [weather])',
      'supervisor boss (chat worker)',
      'plan-execute plan (chat planner; chat child [weather]; chat replanner)',
      'chat child [weather] (chat member)',
    ])
    const [deep = ''] = await linesOf(deepAgent({ name: 'deep', model }))
    expect(deep).toMatch(/^deep deep \[task, ls, .*write_todos\] \(chat general-purpose \[ls, /)
  })

  it('draws agents and workflows of ADK', async () => {
    const get = new FunctionTool({
      name: 'get',
      description: 'Gets it.',
      parameters: z.object({ id: z.string() }),
      execute: () => ({}),
    })
    const llm = new ScriptedLlm([])
    const inner = new LlmAgent({ name: 'inner', description: 'Inner.', model: llm, instruction: 'Hidden.' })
    const sub = new LlmAgent({ name: 'sub', description: 'Sub.', model: llm })
    const root = new LlmAgent({
      ...{ name: 'root', model: llm, instruction: 'Hidden.' },
      ...{ tools: [get, new AgentTool({ agent: inner })], subAgents: [sub] },
    })
    const { agents } = await sessionOf({
      agents: [
        fromAdk(root),
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- people use it
        fromAdk(new SequentialAgent({ name: 'flow', subAgents: [new LlmAgent({ name: 's1', model: llm })] })),
      ],
    })
    expect(agents.map(lineOf)).toEqual([
      'adk root [get, inner] (adk sub; adk inner)',
      'sequence flow (adk s1)',
    ])
    expect(agents[0]).toMatchObject({
      runtime: 'adk',
      tools: [{ parameters: { type: 'object', properties: { id: { type: 'string' } } } }, {}],
    })
    const a = new LlmAgent({ name: 'a', model: llm })
    const b = new LlmAgent({ name: 'b', model: llm })
    const workflow = new Workflow({ name: 'w', edges: [[START, a, b]] })
    const [drawn] = (await sessionOf({ agents: [fromAdk(workflow)] })).agents
    expect(drawn).toMatchObject({ kind: 'graph' })
    expect((drawn as unknown as { edges: { from: string; to: string }[] }).edges).toContainEqual({
      from: 'a',
      to: 'b',
    })
  })

  it('draws graphs with their nodes, edges and the graphs below', async () => {
    const look = tool(() => 'x', { name: 'look', description: 'Looks.', schema: z.object({ q: z.string() }) })
    const same = (state: typeof MessagesAnnotation.State): object => ({
      messages: state.messages.slice(0, 0),
    })
    const below = new StateGraph(MessagesAnnotation)
      .addNode('deep', same)
      .addEdge(GRAPH_START, 'deep')
      .addEdge('deep', END)
      .compile({ name: 'below' })
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('think', same)
      .addNode('tools', new ToolNode([look]))
      .addNode('sub', below)
      .addEdge(GRAPH_START, 'think')
      .addConditionalEdges('think', () => END, { act: 'tools', stop: END })
      .addEdge('tools', 'sub')
      .addEdge('sub', END)
      .compile({ name: 'graph' })
    const [drawn] = (await sessionOf({ agents: [fromLangGraph(graph)] })).agents
    if (!drawn) throw new Error('There is no agent.')
    expect(lineOf(drawn)).toBe('graph graph (node think; node tools [look]; graph sub (node deep))')
    const { edges } = drawn as unknown as { edges: object[] }
    expect(edges).toContainEqual({ from: 'think', to: 'tools', label: 'act' })
    expect(edges).toContainEqual({ from: '__start__', to: 'think' })
    expect(JSON.stringify(drawn)).toContain('"q":{"type":"string"}')
  })

  it('draws remote agents, agents written by hand, and those that fail to tell', async () => {
    const bare: Agent = {
      ...{ name: 'bare', description: '' },
      async *run() {
        await Promise.resolve()
        yield { type: 'CUSTOM', name: 'x', value: 1 }
        return { type: 'done' }
      },
    }
    const failing: Agent = { ...bare, name: 'failing', outline: () => Promise.reject(new Error('no')) }
    const endless: Agent = { ...bare, name: 'own', outline: () => ({ kind: 'custom', agents: [endless] }) }
    expect(
      await linesOf(
        fromAgUi(new HttpAgent({ url: 'http://127.0.0.1:9' }), { name: 'far' }),
        bare,
        failing,
        endless,
      ),
    ).toEqual(['remote far', 'custom bare', 'custom failing', 'custom own (-> own)'])
  })
})

describe("a model's request", () => {
  it('of ADK is in the run file', async () => {
    const get = new FunctionTool({ name: 'get', description: 'Gets it.', execute: () => ({ ok: true }) })
    const llm = new ScriptedLlm([callsTool({ name: 'get', args: {} }), says('Done.')])
    const root = new LlmAgent({ name: 'root', model: llm, instruction: 'Be brief.', tools: [get] })
    const { url } = await serving({ agents: [fromAdk(root)], console: true })
    await runTo(url, { agent: 'root' })
    const { requests } = await runFile(url, 'root/t/r')
    expect(requests).toHaveLength(2)
    expect(requests[0]).toMatchObject({
      agent: 'root',
      messages: [{ role: 'user', parts: [{ text: 'Go.' }] }],
      tools: [{ name: 'get' }],
      endedAt: expect.any(Number) as number,
    })
    expect(JSON.stringify(requests[0]?.instructions)).toContain('Be brief.')
  })

  it('of a graph is in the run file', async () => {
    const fake = new FakeModel([['Hello.']])
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('think', async (state) => ({ messages: [await fake.invoke(state.messages)] }))
      .addEdge(GRAPH_START, 'think')
      .addEdge('think', END)
      .compile({ name: 'graph' })
    const { url } = await serving({ agents: [fromLangGraph(graph)], console: true })
    await runTo(url, { agent: 'graph' })
    const { requests } = await runFile(url, 'graph/t/r')
    expect(requests).toMatchObject([
      {
        agent: 'think',
        messages: [{ role: 'human', content: 'Go.' }],
        endedAt: expect.any(Number) as number,
      },
    ])
  })

  it('of a remote agent is not known here, but its events are', async () => {
    const far = await serving({ agents: [chat('far')] })
    const agent = fromAgUi(new HttpAgent({ url: `${far.url}/run` }), { name: 'near' })
    const { url } = await serving({ agents: [agent], console: true })
    const events = await runTo(url, { agent: 'near' })
    const file = await runFile(url, 'near/t/r')
    expect(file.requests).toEqual([])
    expect(file.events.map(({ event }) => event)).toEqual(events)
  })
})

describe('a call of a tool from the console', () => {
  const failing = defineTool({
    name: 'failing',
    description: 'Fails.',
    execute: () => {
      throw new Error('out of order')
    },
  })
  const asking = defineTool({
    name: 'asking',
    description: 'Asks.',
    execute: async (_, ctx) => (await ctx.interrupt({ message: 'Sure?' })).status,
  })
  const counting = defineTool({
    name: 'counting',
    description: 'Counts.',
    async *execute(_, ctx) {
      ctx.setState((state: unknown) => ({ n: Number(Reflect.get(Object(state) as object, 'n')) + 1 }))
      await Promise.resolve()
      yield { progress: 1 }
      return { user: ctx.user }
    },
  })
  const served = (options: Partial<ServerOptions> = {}) =>
    serving({
      agents: [
        chat('desk', { tools: [agentTool(chat('child', { tools: [weather] })), failing, asking, counting] }),
      ],
      console: { toolCalls: true },
      ...options,
    })
  const call = async (url: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(`${url}/console/api/tools/${path}`, { body, headers })

  it('runs the tool with all that it has in a run, and stores nothing', async () => {
    const { url } = await served()
    const rain = await call(url, 'child/weather', { arguments: { city: 'Oslo' } })
    expect(rain).toMatchObject({ status: 200, body: { result: 'Rain in Oslo.' } })
    const counted = await call(url, 'desk/counting', { arguments: {}, state: { n: 1 } })
    expect(counted.body).toEqual({ result: { user: 'local' }, state: { n: 2 } })
    expect((await ask(`${url}/agents/desk/thread/list`)).body).toMatchObject({ threads: [] })
    expect((await ask(`${url}/console/api/runs`)).body).toEqual({ runs: [] })
  })

  it('says why the tool did not answer', async () => {
    const { url } = await served()
    expect((await call(url, 'desk/failing', {})).body).toEqual({
      error: { code: 'TOOL_ERROR', message: 'out of order' },
    })
    expect((await call(url, 'child/weather', { arguments: { city: 1 } })).body).toMatchObject({
      error: { code: 'INVALID_TOOL_ARGUMENTS', message: expect.stringContaining('city') as string },
    })
    expect((await call(url, 'desk/asking', {})).body).toMatchObject({ error: { code: 'TOOL_ERROR' } })
    for (const path of ['desk/none', 'nobody/weather', 'desk/weather'])
      expect((await call(url, path, {})).status).toBe(404)
    expect((await call(url, 'desk/failing', [])).status).toBe(400)
  })

  it('is for operators, where it is allowed, and from the page of this server alone', async () => {
    const audited: AuditEvent[] = []
    const { url } = await served({ identify, hooks: { audit: (event) => void audited.push(event) } })
    const body = { arguments: { city: 'Oslo' } }
    expect((await call(url, 'child/weather', body, as('ann'))).status).toBe(403)
    expect((await call(url, 'child/weather', body, as('olga'))).status).toBe(200)
    const own = { ...as('olga'), origin: url, 'sec-fetch-site': 'same-origin' }
    expect((await call(url, 'child/weather', body, own)).status).toBe(200)
    for (const foreign of [
      { origin: 'https://evil.example.com' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ])
      expect((await call(url, 'child/weather', body, { ...as('olga'), ...foreign })).status).toBe(403)
    expect(audited.map(({ outcome }) => outcome)).toEqual([
      ...['refused', 'done', 'done', 'refused', 'refused', 'refused'],
    ])
    expect(audited[1]).toMatchObject({ action: 'call-tool', user: 'olga', agent: 'child', tool: 'weather' })
    const without = await served({ console: true })
    expect((await call(without.url, 'child/weather', body)).status).toBe(405)
    const { body: session } = await ask(`${without.url}/console/api/session`)
    expect(JSON.stringify(session)).not.toContain('"canCall":true')
  })

  it('ends with the time of the tool', async () => {
    const stuck = defineTool({
      name: 'stuck',
      description: 'Waits.',
      timeoutMs: 20,
      execute: () => new Promise(() => undefined),
    })
    const { url } = await served({ agents: [chat('desk', { tools: [stuck] })] })
    expect((await call(url, 'desk/stuck', {})).body).toMatchObject({ error: { code: 'TOOL_ERROR' } })
  })
})
