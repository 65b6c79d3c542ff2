import { FunctionTool, LlmAgent } from '@google/adk'
import { tool } from '@langchain/core/tools'
import { createAgent } from 'langchain'
import { interrupt, MemorySaver } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { defineAgent, defineTool, type Agent } from '../../src/agents/index.js'
import { clientTools, fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { callsTool, says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { callsIn, historyOf, interruptsIn, textIn } from '../support/adk/serve-adk.js'
import { callChunks } from '../support/langgraph/fake-model.js'
import { agentModel } from '../support/langgraph/serve-graph.js'
import { ofType, resultsIn, toResume } from '../support/run-agent.js'
import { serveAgents, type ServedAgents } from '../support/serve-agents.js'
import { inputOf, user } from './support-server.js'

const bodyBytes = 3000
const essay = 'A long answer. '.repeat(150)

const tools = [{ name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } }]

/** Agents that write two essays, then call a tool that needs approval, then one of the client. */
const agents: Readonly<Record<string, () => Agent>> = {
  kit: () =>
    defineAgent({
      name: 'writer',
      model: scriptedModel([
        ...[essay, essay, [{ toolCall: { name: 'pay', args: {} } }], 'Paid.'],
        ...[[{ toolCall: { name: 'look', args: {} } }], 'I see.', 'Short.'],
      ]),
      tools: [
        defineTool({
          ...{ name: 'pay', description: 'Pays.' },
          async execute(_, ctx) {
            const answer = await ctx.interrupt({ message: 'Sure?' })
            return answer.status
          },
        }),
      ],
    }),
  ADK: () => {
    const pay = new FunctionTool({
      ...{ name: 'pay', description: 'Pays.', parameters: z.object({}), requireConfirmation: true },
      execute: () => 'resolved',
    })
    const model = new ScriptedLlm([
      ...[says(essay), says(essay), callsTool({ name: 'pay' }), says('Paid.')],
      ...[callsTool({ name: 'look' }), says('I see.'), says('Short.')],
    ])
    return fromAdk(new LlmAgent({ name: 'writer', model, tools: [pay] }))
  },
  LangGraph: () => {
    const pay = tool(() => (interrupt('Sure?') ? 'resolved' : 'no'), {
      ...{ name: 'pay', description: 'Pays.', schema: z.object({}) },
    })
    const model = agentModel([
      ...[[essay], [essay], callChunks('c1', 'pay', {}), ['Paid.']],
      ...[callChunks('c2', 'look', {}), ['I see.'], ['Short.']],
    ])
    const checkpointer = new MemorySaver()
    const graph = createAgent({ model, tools: [pay], checkpointer, middleware: [clientTools()] })
    return fromLangGraph(graph, { name: 'writer' })
  },
}

const cases = Object.entries(agents).flatMap(([runtime, make]) =>
  (['memory', 'sqlite'] as const).map((store) => ({ runtime, make, store })),
)

describe.each(cases)('a thread longer than `bodyBytes`: $runtime, $store', ({ make, store }) => {
  /** A server whose thread has two essays. */
  async function serveLong(): Promise<ServedAgents> {
    const served = await serveAgents({ agents: [make()], store, limits: { bodyBytes } })
    for (const turn of [1, 2]) await say(served, turn)
    expect(JSON.stringify(await historyOf(served)).length).toBeGreaterThan(bodyBytes)
    return served
  }
  const post = async (served: ServedAgents, fields: object) =>
    (await served.stream('/run', { body: inputOf({ tools, ...fields }) })).events
  const say = (served: ServedAgents, turn: number) =>
    post(served, { runId: `run-${turn}`, messages: [user(`u${turn}`, `Turn ${turn}.`)] })

  it('tells a client that sends all of it what to send instead', async () => {
    const served = await serveLong()
    const before = await historyOf(served)
    const messages = [...before, user('u3', 'Turn 3.')]
    const body = inputOf({ runId: 'run-3', messages, tools })
    expect(await served.ask('POST /run', { body })).toMatchObject({
      status: 413,
      body: {
        error: {
          code: 'PAYLOAD_TOO_LARGE',
          message: expect.stringMatching(
            /^The body is larger than 3000 bytes \(limits\.bodyBytes\)\. Send only the messages that are new/,
          ) as string,
        },
      },
    })
    expect(await historyOf(served)).toEqual(before)
    // As it was told.
    expect(interruptsIn(await say(served, 3))).toHaveLength(1)
  })

  it('goes on with a client that sends only what is new: messages, answers, results', async () => {
    const served = await serveLong()
    const [asked] = interruptsIn(await say(served, 3))
    const resume = toResume({ [asked?.id ?? '']: { approved: true } })
    const paid = await post(served, { runId: 'run-4', resume })
    expect(resultsIn(paid).join()).toContain('resolved')
    expect(textIn(paid)).toBe('Paid.')
    const [call] = callsIn(await say(served, 5))
    const result = { id: 't1', role: 'tool', toolCallId: call?.id, content: 'a cat' }
    expect(textIn(await post(served, { runId: 'run-6', messages: [result] }))).toBe('I see.')
    expect(textIn(await say(served, 7))).toBe('Short.')
    const stored = await historyOf(served)
    expect(stored.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
      ...['Turn 1.', 'Turn 2.', 'Turn 3.', 'Turn 5.', 'Turn 7.'],
    ])
    expect(stored.filter(({ role }) => role === 'tool')).toHaveLength(2)
  })

  it('is edited by the edited message alone', async () => {
    const served = await serveLong()
    const edited = await post(served, { runId: 'run-3', messages: [user('u2', 'Turn 2, again.')] })
    expect(ofType(edited, 'CUSTOM').map(({ name }) => name)).toContain('millrace.forked')
    const stored = (await historyOf(served)).filter(({ role }) => role === 'user')
    expect(stored.map(({ content }) => content)).toEqual(['Turn 1.', 'Turn 2, again.'])
  })

  it('is shown whole to a client that connects', async () => {
    const served = await serveLong()
    const { events } = await served.stream('/connect', {
      body: { threadId: 'thread-1', protocolVersion: '1.0' },
    })
    const [snapshot] = ofType(events, 'MESSAGES_SNAPSHOT')
    expect(snapshot?.messages.map(({ content }) => content)).toEqual(['Turn 1.', essay, 'Turn 2.', essay])
  })
})
