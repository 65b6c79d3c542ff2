import { LlmAgent } from '@google/adk'
import { MemorySaver } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { fromAdk } from '../../src/adk/index.js'
import { deepAgent, planExecute, supervisor } from '../../src/agents/prebuilt/index.js'
import {
  agentTool,
  defineAgent,
  defineTool,
  loop,
  parallel,
  rewriteHistory,
  sequential,
  team,
  transferAfter,
  withHistory,
  withRetry,
  type Agent,
  type HistoryRewriter,
} from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel, type ScriptedModel } from '../../src/models/index.js'
import { says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { FakeModel } from '../support/langgraph/fake-model.js'
import { ofType } from '../support/run-agent.js'
import { linesOf, serveAgents } from '../support/serve-agents.js'
import { textsIn } from '../support/tree-agents.js'
import { servedRemote } from './support-remote.js'

/** The thread from the user's last message on. */
const lastTurn: HistoryRewriter = (entries) =>
  rewriteHistory(entries.slice(entries.findLastIndex(({ message }) => message.role === 'user')))

interface Reader {
  readonly agent: Agent
  /** What its model was asked, call by call, as text. */
  readonly asked: () => string[]
}

const description = 'Reads.'
const answers = ['One.', 'Two.', 'Three.', 'Four.']

const kitReader = (name = 'reader', model: ScriptedModel = scriptedModel(answers)): Reader => ({
  agent: defineAgent({ name, description, model }),
  asked: () => model.requests.map(({ messages }) => JSON.stringify(messages)),
})

const readers: readonly { runtime: string; make: () => Promise<Reader> }[] = [
  { runtime: 'the kit', make: () => Promise.resolve(kitReader()) },
  {
    runtime: 'ADK',
    make: () => {
      const model = new ScriptedLlm(answers.map((text) => says(text)))
      const agent = fromAdk(new LlmAgent({ name: 'reader', description, model }))
      return Promise.resolve({ agent, asked: () => model.calls.map((call) => JSON.stringify(call)) })
    },
  },
  ...[true, false].map((hasMemory) => ({
    runtime: `LangGraph ${hasMemory ? 'with' : 'without'} a checkpointer`,
    make: () => {
      const model = new FakeModel(answers.map((text) => [text]))
      const memory = hasMemory ? { checkpointer: new MemorySaver() } : {}
      const agent = fromLangGraph(createAgent({ model, tools: [], ...memory }), {
        name: 'reader',
        description,
      })
      return Promise.resolve({ agent, asked: () => model.calls.map((call) => JSON.stringify(call)) })
    },
  })),
  {
    runtime: 'a remote agent',
    make: async () => {
      const model = scriptedModel(answers)
      const { agent, streams } = await servedRemote({ agents: [defineAgent({ name: 'far', model })] })
      // The endpoint has a store of its own, so it remembers: what counts is what it is sent.
      const asked = () => streams.map(({ input }) => JSON.stringify(input.messages))
      return { agent: agent({ name: 'reader', description }), asked }
    },
  },
]

const note = (): Agent =>
  defineAgent({ name: 'note', description: 'Notes.', model: scriptedModel(() => 'Noted.') })
const toReader = (): Agent =>
  transferAfter(defineAgent({ name: 'desk', description, model: scriptedModel(() => 'Noted.') }), 'reader')

const composites: readonly { kind: string; around: (reader: Agent) => Agent }[] = [
  { kind: 'a sequence', around: (reader) => sequential({ name: 'flow', agents: [note(), reader] }) },
  {
    kind: 'a loop in a sequence',
    around: (reader) =>
      sequential({
        name: 'flow',
        agents: [note(), loop({ name: 'once', agents: [reader], maxIterations: 1 })],
      }),
  },
  {
    kind: 'lanes in a sequence',
    around: (reader) =>
      sequential({ name: 'flow', agents: [note(), parallel({ name: 'lanes', agents: [reader, note()] })] }),
  },
  { kind: 'a team', around: (reader) => team({ lead: toReader(), members: [reader] }) },
  {
    kind: 'a retried sequence',
    around: (reader) => withRetry(sequential({ name: 'flow', agents: [note(), reader] })),
  },
]

describe.each(readers)('a history around agents of $runtime', ({ make }) => {
  it.each(composites)('reaches them in $kind, with what the run itself has written', async ({ around }) => {
    const reader = await make()
    const served = await serveAgents({ agents: [withHistory(around(reader.agent), lastTurn)] })
    const talk = served.talk()
    await talk.say('The code is 7.')
    expect(textsIn(await talk.say('And now?'))).toContain('Two.')
    const [first, second] = reader.asked()
    expect(first).toContain('The code is 7.')
    expect(second).toContain('And now?')
    expect(second).toContain('Noted.')
    expect(second).not.toContain('The code is 7.')
    expect(second).not.toContain('One.')
    // Clients and the store have the whole thread.
    const lines = linesOf(talk.client.messages)
    expect(lines).toEqual(
      expect.arrayContaining(['user: The code is 7.', 'assistant: One.', 'assistant: Two.']),
    )
  })

  it('reaches one that stands alone', async () => {
    const reader = await make()
    const served = await serveAgents({ agents: [withHistory(reader.agent, lastTurn)] })
    const talk = served.talk()
    await talk.say('The code is 7.')
    await talk.say('And now?')
    expect(reader.asked()[1]).toContain('And now?')
    expect(reader.asked()[1]).not.toContain('The code is 7.')
    const lines = ['user: The code is 7.', 'assistant: One.', 'user: And now?', 'assistant: Two.']
    expect(linesOf(talk.client.messages)).toEqual(lines)
  })
})

/** Hides all but what users say. */
const usersOnly: HistoryRewriter = (entries) =>
  entries.map(({ message }) => message).filter(({ role }) => role === 'user')

const send = defineTool({
  name: 'send',
  description: 'Sends.',
  execute: async (_args, ctx) => (await ctx.interrupt({ message: 'Send?' })).status,
})

const toolCall = (name: string, args: object = {}) => [{ toolCall: { name, args } }]

describe('a history around agents', () => {
  it('leaves a supervisor what its workers report in the run', async () => {
    const lead = scriptedModel([toolCall('transfer_to_agent', { agent_name: 'reader' }), 'Done.', 'Bye.'])
    const reader = kitReader()
    const agent = supervisor({ name: 'lead', model: lead, workers: [reader.agent] })
    const served = await serveAgents({ agents: [withHistory(agent, usersOnly)] })
    const talk = served.talk()
    expect(textsIn(await talk.say('Ask.'))).toEqual(['One.', 'Done.'])
    expect(JSON.stringify(lead.requests[1]?.messages)).toContain('[reader] said: One.')
    expect(textsIn(await talk.say('Thanks.'))).toEqual(['Bye.'])
    const last = lead.requests[2]?.messages.map(({ content }) => content)
    expect(last).toEqual(['Ask.', 'Thanks.'])
  })

  it('is the same after an interrupt and a restart', async () => {
    const lead = scriptedModel(['Hello.', 'I hand over.'])
    const models = [scriptedModel([toolCall('send'), 'Sent.'])]
    const flow = sequential({
      name: 'flow',
      agents: [
        defineAgent({ name: 'first', model: lead }),
        defineAgent({ name: 'second', model: () => models[0] ?? scriptedModel([]), tools: [send] }),
      ],
    })
    // A first turn that is not to be seen.
    models.unshift(scriptedModel(['Secret.']))
    const served = await serveAgents({ agents: [withHistory(flow, lastTurn)], store: 'sqlite' })
    const talk = served.talk()
    await talk.say('The code is 7.')
    models.shift()
    const [event] = ofType(await talk.say('Send it.'), 'RUN_FINISHED')
    const interrupts = event?.outcome?.type === 'interrupt' ? event.outcome.interrupts : []
    expect(interrupts).toHaveLength(1)
    const again = await served.restart()
    talk.client.url = again.url
    const resume = interrupts.map(({ id }) => ({ interruptId: id, status: 'resolved' as const }))
    expect(textsIn(await talk.send({ resume }))).toEqual(['Sent.'])
    const [before, after] = models[0]?.requests.map(({ messages }) => messages) ?? []
    expect(before?.map(({ content }) => content)).toEqual([
      'Send it.',
      'For context: [first] said: I hand over.',
    ])
    expect(after?.slice(0, 2)).toEqual(before)
    expect(after?.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'tool'])
  })

  it('is the same for the lead of a team after an interrupt', async () => {
    const model = scriptedModel(['Hello.', toolCall('send'), 'Sent.'])
    const agent = defineAgent({ name: 'lead', model, tools: [send], subAgents: [kitReader().agent] })
    const served = await serveAgents({ agents: [withHistory(agent, lastTurn)] })
    const talk = served.talk()
    await talk.say('The code is 7.')
    const [event] = ofType(await talk.say('Send it.'), 'RUN_FINISHED')
    const interrupts = event?.outcome?.type === 'interrupt' ? event.outcome.interrupts : []
    await talk.send({
      resume: interrupts.map(({ id }) => ({ interruptId: id, status: 'cancelled' as const })),
    })
    const last = model.requests.at(-1)?.messages ?? []
    expect(last.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(last[0]).toMatchObject({ content: 'Send it.' })
  })

  it('is what rewriters inside get', async () => {
    const inner = scriptedModel(answers)
    const seen: string[][] = []
    const historyRewriter: HistoryRewriter = (entries) => {
      seen.push(entries.map(({ message, agent }) => `${agent ?? '-'} ${JSON.stringify(message.content)}`))
      return rewriteHistory(entries.slice(-1))
    }
    const agent = sequential({
      name: 'flow',
      agents: [note(), defineAgent({ name: 'inner', model: inner, historyRewriter })],
    })
    const served = await serveAgents({ agents: [withHistory(agent, lastTurn)] })
    const talk = served.talk()
    await talk.say('The code is 7.')
    await talk.say('And now?')
    expect(seen.at(-1)).toEqual(['- "And now?"', 'note "Noted."'])
    expect(inner.requests[1]?.messages.map(({ content }) => content)).toEqual([
      'For context: [note] said: Noted.',
    ])
  })

  it('reaches the agents of a plan', async () => {
    const planner = scriptedModel(() => JSON.stringify({ steps: ['Look.'] }))
    const replanner = scriptedModel(() => JSON.stringify({ type: 'respond', response: 'Seen.' }))
    const model = scriptedModel(answers)
    const executor = defineAgent({ name: 'executor', model })
    const agent = planExecute({ name: 'trip', planner, replanner, executor })
    const served = await serveAgents({ agents: [withHistory(agent, lastTurn)] })
    const talk = served.talk()
    await talk.say('The code is 7.')
    expect(textsIn(await talk.say('And now?'))).toEqual(['Two.', 'Seen.'])
    for (const { requests } of [planner, replanner, model]) {
      expect(JSON.stringify(requests[1]?.messages)).toContain('And now?')
      expect(JSON.stringify(requests[1]?.messages)).not.toContain('The code is 7.')
    }
  })

  it('reaches calls that pass on the whole history, and leaves those with a request alone', async () => {
    const [full, brief] = [kitReader('full'), kitReader('brief')]
    const calls = ['full', 'brief'].map((name) => ({ toolCall: { name, args: { request: `Ask ${name}.` } } }))
    const model = scriptedModel(['Hello.', calls, 'Done.'])
    const tools = [agentTool(full.agent, { history: 'full' }), agentTool(brief.agent)]
    const agent = sequential({ name: 'flow', agents: [deepAgent({ name: 'deep', model, tools })] })
    const served = await serveAgents({ agents: [withHistory(agent, lastTurn)] })
    const talk = served.talk()
    await talk.say('The code is 7.')
    await talk.say('And now?')
    expect(full.asked()[0]).toContain('And now?')
    expect(full.asked()[0]).not.toContain('The code is 7.')
    expect(brief.asked()[0]).toContain('Ask brief.')
    expect(brief.asked()[0]).not.toContain('And now?')
  })

  it('returns raw messages of other agents where the rewriter does', async () => {
    const reader = kitReader()
    const raw: HistoryRewriter = (entries) => entries.map(({ message }) => message)
    const agent = sequential({ name: 'flow', agents: [note(), reader.agent] })
    const served = await serveAgents({ agents: [withHistory(agent, raw)] })
    const talk = served.talk()
    await talk.say('One?')
    await talk.say('Two?')
    const roles = (JSON.parse(reader.asked()[1] ?? '[]') as { role: string }[]).map(({ role }) => role)
    expect(roles).toEqual(['user', 'assistant', 'assistant', 'user', 'user'])
  })
})
