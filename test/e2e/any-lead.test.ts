import { LlmAgent } from '@google/adk'
import { MemorySaver } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { fromAdk } from '../../src/adk/index.js'
import { supervisor } from '../../src/agents/prebuilt/index.js'
import {
  defineAgent,
  rewriteHistory,
  run,
  sequential,
  team,
  transferAfter,
  withHistory,
  type Agent,
  type HistoryRewriter,
} from '../../src/index.js'
import { clientTools, fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel, type ScriptedModel } from '../../src/models/index.js'
import { callsTool, says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { callChunks, FakeModel } from '../support/langgraph/fake-model.js'
import { ofType } from '../support/run-agent.js'
import { serveAgents } from '../support/serve-agents.js'
import { textsIn } from '../support/tree-agents.js'
import { servedRemote } from './support-remote.js'

interface Lead {
  readonly agent: Agent
  /** What its model was asked, call by call, as text. */
  readonly asked: () => string[]
  /** The tools that its model had, as text. */
  readonly offered: () => string
}

const description = 'Leads.'
/** Leaves out what the agent `secret` has said. */
const historyRewriter: HistoryRewriter = (entries) =>
  rewriteHistory(entries.filter(({ agent }) => agent !== 'secret'))
const args = { agent_name: 'billing' }
const toolName = 'transfer_in_team'

const nameOf = (tool: object): unknown => Reflect.get(tool, 'name')

/** Leads that hand over to `billing` by their own model, and then answer `All done.` */
const leads: readonly { runtime: string; make: () => Promise<Lead> }[] = [
  {
    runtime: 'ADK',
    make: () => {
      const model = new ScriptedLlm([callsTool({ name: toolName, args }), says('All done.')])
      const agent = fromAdk(new LlmAgent({ name: 'desk', description, model }), { historyRewriter })
      const asked = () => model.calls.map((call) => JSON.stringify(call))
      return Promise.resolve({ agent, asked, offered: () => JSON.stringify(model.requests[0]?.config) })
    },
  },
  ...[true, false].map((hasMemory) => ({
    runtime: `LangGraph ${hasMemory ? 'with' : 'without'} a checkpointer`,
    make: () => {
      const model = new FakeModel([callChunks('t1', toolName, args), ['All done.']])
      const memory = hasMemory ? { checkpointer: new MemorySaver() } : {}
      const graph = createAgent({ model, tools: [], middleware: [clientTools()], ...memory })
      const agent = fromLangGraph(graph, { name: 'desk', description, historyRewriter })
      const asked = () => model.calls.map((call) => JSON.stringify(call))
      return Promise.resolve({ agent, asked, offered: () => String(model.offered[0]?.map(nameOf)) })
    },
  })),
  {
    runtime: 'a remote agent',
    make: async () => {
      const model = scriptedModel([[{ toolCall: { name: toolName, args } }], 'All done.'])
      const { agent } = await servedRemote({ agents: [defineAgent({ name: 'far', model })] })
      const asked = () => model.requests.map(({ messages }) => JSON.stringify(messages))
      const offered = () => JSON.stringify(model.requests[0]?.tools)
      return { offered, agent: agent({ name: 'desk', description, historyRewriter }), asked }
    },
  },
]

function billingAgent(): { agent: Agent; model: ScriptedModel } {
  const model = scriptedModel(() => 'You owe nothing.')
  return { agent: defineAgent({ name: 'billing', description: 'Knows bills.', model }), model }
}

/** An agent by hand, an instance of a class, that transfers to the first of its targets once. */
class Router implements Agent {
  readonly name = 'desk'
  #isDone = false
  get description() {
    return description
  }
  async *run(ctx: Parameters<Agent['run']>[0]): ReturnType<Agent['run']> {
    const [target] = ctx.transferTargets
    yield { type: 'TEXT_MESSAGE_CHUNK', messageId: ctx.services.newId('message'), delta: 'Let me see.' }
    if (this.#isDone || !target) return await Promise.resolve({ type: 'done' })
    this.#isDone = true
    return { type: 'transfer', to: target.name }
  }
}

describe.each(leads)('$runtime', ({ make }) => {
  it('leads a team: its model hands over, and hears of it in the next run', async () => {
    const [lead, billing] = [await make(), billingAgent()]
    const served = await serveAgents({ agents: [team({ lead: lead.agent, members: [billing.agent] })] })
    const talk = served.talk()
    const events = await talk.say('My bill?')
    expect(textsIn(events)).toEqual(['You owe nothing.'])
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([{ content: "Transferred to 'billing'." }])
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' } })
    expect(textsIn(await talk.say('Thanks.'))).toEqual(['All done.'])
    expect(lead.asked()[1]).toContain('Transferred to')
    expect(lead.offered()).toContain(toolName)
    expect(lead.asked()[1]).toContain('You owe nothing.')
  })

  it('supervises: it continues with what the worker said, in the same run', async () => {
    const [lead, billing] = [await make(), billingAgent()]
    const served = await serveAgents({ agents: [supervisor({ lead: lead.agent, workers: [billing.agent] })] })
    const events = await served.talk().say('My bill?')
    expect(textsIn(events)).toEqual(['You owe nothing.', 'All done.'])
    expect(lead.asked()[1]).toContain('You owe nothing.')
  })
})

it('a lead of ADK knows what its own subagents said in an earlier run', async () => {
  const transfer = callsTool({ name: 'transfer_to_agent', args: { agentName: 'helper' } })
  const own = new ScriptedLlm([transfer])
  const helper = new ScriptedLlm([says('Helper here.'), says('Helper again.')])
  const subAgents = [new LlmAgent({ name: 'helper', description: 'Helps.', model: helper })]
  const lead = fromAdk(new LlmAgent({ name: 'desk', description, model: own, subAgents }))
  const served = await serveAgents({ agents: [team({ lead, members: [billingAgent().agent] })] })
  const talk = served.talk()
  expect(textsIn(await talk.say('Help.'))).toEqual(['Helper here.'])
  expect(textsIn(await talk.say('And now?'))).toEqual(['Helper again.'])
  expect(JSON.stringify(helper.calls[1])).toContain('Helper here.')
})

describe('an agent by hand', () => {
  it('leads a team with what it returns', async () => {
    const served = await serveAgents({
      agents: [team({ lead: new Router(), members: [billingAgent().agent] })],
    })
    expect(textsIn(await served.talk().say('My bill?'))).toEqual(['Let me see.', 'You owe nothing.'])
  })

  it('supervises', async () => {
    const served = await serveAgents({
      agents: [supervisor({ lead: new Router(), workers: [billingAgent().agent] })],
    })
    const texts = ['Let me see.', 'You owe nothing.', 'Let me see.']
    expect(textsIn(await served.talk().say('My bill?'))).toEqual(texts)
  })

  it('that transfers alone is told how to have a team', async () => {
    const alone: Agent = transferAfter(new Router(), 'billing')
    const served = await serveAgents({ agents: [alone] })
    expect((await served.talk().say('My bill?')).at(-1)).toMatchObject({ type: 'RUN_ERROR' })
    const advice = expect.stringContaining('team({ lead, members })') as string
    expect(await run(alone, 'My bill?').result).toMatchObject({ error: { message: advice } })
  })
})

describe('a transfer after an agent', () => {
  const classifier = (kind: string): Agent =>
    defineAgent({
      name: 'desk',
      model: scriptedModel([JSON.stringify({ kind })]),
      output: { type: 'object' },
    })
  const shipping = defineAgent({
    name: 'shipping',
    description: 'Ships.',
    model: scriptedModel(() => 'It is on its way.'),
  })

  it.each([
    ['bill', 'You owe nothing.'],
    ['parcel', 'It is on its way.'],
  ])('goes where its result leads: %s', async (kind, text) => {
    const targets: Readonly<Record<string, string>> = { bill: 'billing', parcel: 'shipping' }
    const lead = transferAfter(classifier(kind), (result) => targets[(result as { kind: string }).kind])
    const served = await serveAgents({ agents: [team({ lead, members: [billingAgent().agent, shipping] })] })
    expect(textsIn(await served.talk().say('Where?')).at(-1)).toBe(text)
  })

  it('goes to the first of several that is there, and nowhere when nothing is chosen', async () => {
    const first = team({ lead: transferAfter(classifier('x'), ['night', 'shipping']), members: [shipping] })
    const served = await serveAgents({ agents: [first] })
    expect(textsIn(await served.talk().say('Where?')).at(-1)).toBe('It is on its way.')
    const none = team({ lead: transferAfter(classifier('x'), () => undefined), members: [shipping] })
    const other = await serveAgents({ agents: [none] })
    expect(textsIn(await other.talk().say('Where?'))).toEqual(['{"kind":"x"}'])
  })
})

describe.each(leads)('the history of $runtime', ({ make }) => {
  it('can be rewritten in a tree', async () => {
    const lead = await make()
    const secret = defineAgent({
      name: 'secret',
      description: 'Knows.',
      model: scriptedModel(() => 'The code is 7.'),
    })
    const open = defineAgent({
      name: 'open',
      description: 'Talks.',
      model: scriptedModel(() => 'It is late.'),
    })
    const served = await serveAgents({
      agents: [sequential({ name: 'flow', agents: [secret, open, lead.agent] })],
    })
    await served.talk().say('Go.')
    expect(lead.asked()[0]).toContain('[open] said: It is late.')
    expect(lead.asked()[0]).not.toContain('The code is 7.')
  })
})

it('an agent written by hand and one of the kit can be given a history of their own in a workflow', async () => {
  const secret = defineAgent({ name: 'secret', model: scriptedModel(() => 'The code is 7.') })
  const model = scriptedModel(() => 'Read.')
  const seen: string[] = []
  const byHand: Agent = {
    name: 'hand',
    description,
    // eslint-disable-next-line require-yield
    async *run(ctx) {
      seen.push(JSON.stringify([ctx.messages, ctx.history()]))
      return await Promise.resolve({ type: 'done' })
    },
  }
  const flow = sequential({
    name: 'flow',
    agents: [
      secret,
      withHistory(byHand, historyRewriter),
      defineAgent({ name: 'kit', model, historyRewriter }),
    ],
  })
  const served = await serveAgents({ agents: [flow] })
  await served.talk().say('Go.')
  expect(seen.join()).not.toContain('The code')
  expect(JSON.stringify(model.requests)).not.toContain('The code')
})
