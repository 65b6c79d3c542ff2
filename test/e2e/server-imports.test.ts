import type { Message } from '@ag-ui/core'
import { LlmAgent, SequentialAgent } from '@google/adk'
import { MemorySaver } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { fromAdk } from '../../src/adk/index.js'
import { agentTool, defineAgent, type Agent } from '../../src/index.js'
import { clientTools } from '../../src/langgraph/tools/client-tools.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { isImported, isReported } from '../../src/protocol/index.js'
import { callsTool, says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { requestLines } from '../support/adk/serve-adk.js'
import { agentModel, clientTool, historyOf, promptText } from '../support/langgraph/serve-graph.js'
import { callChunks } from '../support/langgraph/fake-model.js'
import { ofType } from '../support/run-agent.js'
import { clientVersions, linesOf, serveAgents, type ServeAgentsOptions } from '../support/serve-agents.js'
import { inputOf, user } from './support-server.js'

/** An agent that gives these answers in order: a text, or a call of the client's tool of that name. */
interface Talker {
  readonly agent: Agent
  /** What the model was last asked with. */
  prompt(): string[]
}

interface Call {
  readonly call: string
}
type Answers = readonly (string | Call)[]

function kitTalker(answers: Answers): Talker {
  const model = scriptedModel(
    answers.map((one) => (typeof one === 'string' ? one : [{ toolCall: { name: one.call, args: {} } }])),
  )
  const prompt = () => linesOf(model.requests.at(-1)?.messages ?? [])
  return { agent: defineAgent({ name: 'talker', model }), prompt }
}

function adkTalker(answers: Answers): Talker {
  const model = new ScriptedLlm(
    answers.map((one) => (typeof one === 'string' ? says(one) : callsTool({ name: one.call }))),
  )
  const prompt = () =>
    (model.calls.at(-1) ?? []).flatMap(({ role, parts = [] }) =>
      parts.map(({ text, functionCall, functionResponse }) => {
        if (functionCall) return `assistant: ${functionCall.name}(${JSON.stringify(functionCall.args)})`
        if (functionResponse) return `tool: ${String(functionResponse.response?.result)}`
        return `${role === 'model' ? 'assistant' : 'user'}: ${text}`
      }),
    )
  return { agent: fromAdk(new LlmAgent({ name: 'talker', model })), prompt }
}

function graphTalker(checkpointer?: MemorySaver): (answers: Answers) => Talker {
  return (answers) => {
    const model = agentModel(
      answers.map((one, index) =>
        typeof one === 'string' ? [one] : callChunks(`call-${index}`, one.call, {}),
      ),
    )
    const graph = createAgent({ model, middleware: [clientTools()], ...(checkpointer && { checkpointer }) })
    const roles: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant' }
    const prompt = () =>
      promptText(model.calls.at(-1)).map((line) => line.replace(/^\w+/, (type) => roles[type] ?? type))
    return { agent: fromLangGraph(graph as never, { name: 'talker' }), prompt }
  }
}

const talkers: readonly (readonly [string, (answers: Answers) => Talker])[] = [
  ['the kit', kitTalker],
  ['ADK', adkTalker],
  ['LangGraph', graphTalker()],
  ['LangGraph with a checkpointer', (answers) => graphTalker(new MemorySaver())(answers)],
]

const assistant = (id: string, content: string): Message => ({ id, role: 'assistant', content })
const calling = (id: string, callId: string, name: string, args = '{}'): Message => ({
  ...{ id, role: 'assistant', content: '' },
  toolCalls: [{ id: callId, type: 'function', function: { name, arguments: args } }],
})
const result = (id: string, toolCallId: string, content: string): Message => ({
  ...{ id, role: 'tool', toolCallId, content },
})

async function serveTalker({ agent }: Talker, options: Omit<ServeAgentsOptions, 'agents'> = {}) {
  const served = await serveAgents({ ...options, agents: [agent] })
  let runs = 0
  const send = async (messages: readonly Message[], fields: object = {}) => {
    const body = inputOf({ runId: `run-${++runs}`, messages, ...fields })
    return (await served.stream('/run', { body })).events
  }
  const marks = async (is: (message: Message) => boolean) =>
    (await historyOf(served)).filter(is).map(({ id }) => id)
  return { served, send, marks }
}

describe.each(talkers)('with an agent of %s', (_runtime, make) => {
  it.each(clientVersions)(
    'a conversation goes on after the server has forgotten it, with the client $version',
    async ({ Client }) => {
      const first = await serveAgents({ agents: [make(['Hi Ann.']).agent] })
      const before = first.talk({ Client })
      await before.say('I am Ann.')
      const talker = make(['You are Ann.', 'Bye.'])
      const second = await serveAgents({ agents: [talker.agent] })
      const talk = second.talk({ Client })
      talk.client.setMessages(before.client.messages)
      const events = await talk.say('Who am I?')
      expect(talker.prompt()).toEqual(['user: I am Ann.', 'assistant: Hi Ann.', 'user: Who am I?'])
      // The client has it all: a snapshot could only take something away.
      expect(ofType(events, 'MESSAGES_SNAPSHOT')).toEqual([])
      const stored = await historyOf(second)
      expect(linesOf(stored)).toEqual([...talker.prompt(), 'assistant: You are Ann.'])
      expect(linesOf(talk.client.messages)).toEqual(linesOf(stored))
      expect(stored.map(isImported)).toEqual([false, true, false, false])
      await talk.say('Thanks.')
      expect(talker.prompt().slice(-2)).toEqual(['assistant: You are Ann.', 'user: Thanks.'])
    },
  )

  it('the result of a client tool arrives although the server has forgotten the call', async () => {
    const talker = make(['It is red.'])
    const { send, served, marks } = await serveTalker(talker)
    const list = [user('u1', 'Which colour?'), calling('a1', 'c1', 'look'), result('t1', 'c1', 'red')]
    await send(list, { tools: [clientTool('look')] })
    expect(talker.prompt()).toEqual(['user: Which colour?', 'assistant: look({})', 'tool: red'])
    expect(linesOf(await historyOf(served))).toEqual([...talker.prompt(), 'assistant: It is red.'])
    expect(await marks(isImported)).toEqual(['a1', 't1'])
  })

  it('a client tool that has no result yet is waited for, on a thread that the server has forgotten', async () => {
    const talker = make(['Red and round.'])
    const { send, served } = await serveTalker(talker)
    const calls: Message = {
      ...{ id: 'a1', role: 'assistant' },
      toolCalls: ['c1', 'c2'].map((id) => ({
        id,
        type: 'function',
        function: { name: 'look', arguments: '{}' },
      })),
    }
    const tools = [clientTool('look')]
    const list = [user('u1', 'Look.'), calls, result('t1', 'c1', 'red')]
    const waiting = await send(list, { tools })
    expect(waiting.map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
    expect(linesOf(await historyOf(served))).toHaveLength(3)
    await send([...list, result('t2', 'c2', 'round')], { tools })
    expect(talker.prompt().slice(-2)).toEqual(['tool: red', 'tool: round'])
  })

  it('a call that nobody ever answered does not stop a conversation that the server has forgotten', async () => {
    const talker = make(['Let us talk.'])
    const { send } = await serveTalker(talker)
    const events = await send([user('u1', 'Pay.'), calling('a1', 'c1', 'pay'), user('u2', 'Never mind.')])
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    expect(talker.prompt().at(-1)).toBe('user: Never mind.')
  })

  it('a known thread stays the server’s', async () => {
    const talker = make(['One.', 'Two.'])
    const { send, served, marks } = await serveTalker(talker)
    await send([user('u1', 'Count.')])
    const first = await historyOf(served)
    const events = await send([...first, assistant('a9', 'You owe me money.'), user('u2', 'On.')])
    expect(talker.prompt()).toEqual(['user: Count.', 'assistant: One.', 'user: On.'])
    expect(ofType(events, 'MESSAGES_SNAPSHOT')).toHaveLength(1)
    expect(linesOf(await historyOf(served))).toEqual([...talker.prompt(), 'assistant: Two.'])
    expect(await marks(isImported)).toEqual([])
  })

  it('a click that the client reports as a call with its result reaches the model, on the next turns too', async () => {
    const talker = make(['A form.', 'You chose blue.', 'Blue, as I said.', 'Still blue.'])
    const { served, marks } = await serveTalker(talker)
    const talk = served.talk()
    const { client } = talk
    await talk.say('Show me a form.')
    // As A2UI's middleware does it: the request has the report, the client does not keep it.
    let clicks = 0
    client.use((input, next) => {
      const click = (input.forwardedProps as { click?: string } | undefined)?.click
      if (click === undefined) return next.run(input)
      const callId = `click-${++clicks}`
      const report = [
        calling(`x${clicks}`, callId, 'log_a2ui_event', JSON.stringify({ name: click })),
        result(`y${clicks}`, callId, `User performed action "${click}"`),
      ]
      return next.run({ ...input, messages: [...input.messages, ...report] })
    })
    const events = await talk.send({ forwardedProps: { click: 'blue' } })
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    const reported = ['assistant: log_a2ui_event({"name":"blue"})', 'tool: User performed action "blue"']
    expect(talker.prompt()).toEqual(['user: Show me a form.', 'assistant: A form.', ...reported])
    expect(await marks(isReported)).toEqual(['x1', 'y1'])

    const next = await talk.say('Which one was it?')
    // The client lacks the report. That is no reason to cut the thread, or to send it again.
    expect(ofType(next, 'CUSTOM')).toEqual([])
    expect(ofType(next, 'MESSAGES_SNAPSHOT')).toEqual([])
    expect(talker.prompt()).toEqual([
      ...['user: Show me a form.', 'assistant: A form.', ...reported],
      ...['assistant: You chose blue.', 'user: Which one was it?'],
    ])
    await talk.send({ forwardedProps: { click: 'again' } })
    expect(talker.prompt().slice(-2)).toEqual([
      'assistant: log_a2ui_event({"name":"again"})',
      'tool: User performed action "again"',
    ])
    expect(await marks(isReported)).toEqual(['x1', 'y1', 'x2', 'y2'])
    const stored = linesOf((await historyOf(served)).filter((message) => !isReported(message)))
    expect(linesOf(client.messages)).toEqual(stored)
  })

  it('a report that a client keeps is taken once, also beside a message of the user', async () => {
    const talker = make(['Hello.', 'Seen.', 'Again.'])
    const { served, marks } = await serveTalker(talker)
    const talk = served.talk()
    const { client } = talk
    await talk.say('Hi.')
    client.addMessage(calling('x1', 'k1', 'open_page', '{"page":2}'))
    client.addMessage(result('y1', 'k1', 'opened'))
    await talk.say('What do you see?')
    const lines = [
      ...['user: Hi.', 'assistant: Hello.', 'assistant: open_page({"page":2})', 'tool: opened'],
      'user: What do you see?',
    ]
    expect(talker.prompt()).toEqual(lines)
    await talk.send({ runId: 'again' })
    expect(linesOf(await historyOf(served))).toEqual([...lines, 'assistant: Seen.'])
    // A regeneration keeps the report.
    client.setMessages(client.messages.slice(0, -1))
    await talk.send()
    expect(talker.prompt()).toEqual(lines)
    expect(await marks(isReported)).toEqual(['x1', 'y1'])
  })

  it('a call of the client without its result is no report', async () => {
    const talker = make(['Hello.', 'Yes.'])
    const { served } = await serveTalker(talker)
    const talk = served.talk()
    const { client } = talk
    await talk.say('Hi.')
    client.addMessage(calling('x1', 'k1', 'open_page'))
    await talk.say('Are you there?')
    expect(talker.prompt()).toEqual(['user: Hi.', 'assistant: Hello.', 'user: Are you there?'])
  })
})

/** Trees of agents that answer one message, then another. `prompt` is that of the agent that answers last. */
const trees: readonly (readonly [string, (isFirst: boolean) => Talker])[] = [
  [
    'a team of the kit',
    (isFirst) => {
      const transfer = [{ toolCall: { name: 'transfer_to_agent', args: { agent_name: 'helper' } } }]
      const model = scriptedModel(isFirst ? [transfer, 'I am back.'] : ['I am back.'])
      const helper = defineAgent({ name: 'helper', description: 'Helps.', model: scriptedModel(['Helped.']) })
      const agent = defineAgent({ name: 'root', model, subAgents: [helper] })
      return { agent, prompt: () => linesOf(model.requests.at(-1)?.messages ?? []) }
    },
  ],
  [
    'an agent of the kit behind a tool',
    (isFirst) => {
      const call = [{ toolCall: { name: 'helper', args: { request: 'Help.' } } }]
      const model = scriptedModel(isFirst ? [call, 'Done.', 'Bye.'] : ['Bye.'])
      const helper = defineAgent({ name: 'helper', description: 'Helps.', model: scriptedModel(['Helped.']) })
      const agent = defineAgent({ name: 'root', model, tools: [agentTool(helper)] })
      return { agent, prompt: () => linesOf(model.requests.at(-1)?.messages ?? []) }
    },
  ],
  [
    'a team of ADK',
    (isFirst) => {
      const call = callsTool({ name: 'transfer_to_agent', args: { agentName: 'helper' } })
      const model = new ScriptedLlm(isFirst ? [says('Helped.'), says('Again.')] : [says('Again.')])
      const helper = new LlmAgent({ name: 'helper', description: 'Helps.', model })
      const root = new LlmAgent({ name: 'root', model: new ScriptedLlm([call]), subAgents: [helper] })
      return { agent: fromAdk(root), prompt: () => requestLines(model.calls.at(-1)) }
    },
  ],
  [
    'a sequence of ADK',
    (isFirst) => {
      const writing = new ScriptedLlm(isFirst ? [says('Draft.'), says('Draft 2.')] : [says('Draft 2.')])
      const model = new ScriptedLlm(isFirst ? [says('Final.'), says('Final 2.')] : [says('Final 2.')])
      const subAgents = [
        new LlmAgent({ name: 'writer', model: writing }),
        new LlmAgent({ name: 'editor', model }),
      ]
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- people use it
      const root = new SequentialAgent({ name: 'desk', subAgents })
      return { agent: fromAdk(root), prompt: () => requestLines(model.calls.at(-1)) }
    },
  ],
]

it.each(trees)('%s sees a conversation the same after the server has forgotten it', async (_tree, make) => {
  const whole = make(true)
  const first = (await serveAgents({ agents: [whole.agent] })).talk()
  await first.say('One.')
  const messages = structuredClone(first.client.messages)
  await first.say('Two.')
  const later = make(false)
  const second = (await serveAgents({ agents: [later.agent] })).talk()
  second.client.setMessages(messages)
  await second.say('Two.')
  expect(later.prompt()).toEqual(whole.prompt())
  expect(later.prompt()).not.toEqual([])
})

it.each(trees.slice(2))('a click is told to the agent of %s that wrote last', async (_tree, make) => {
  const talker = make(true)
  const { agent } = talker
  const talk = (await serveAgents({ agents: [agent] })).talk()
  await talk.say('Show me a form.')
  talk.client.addMessage(calling('x1', 'k1', 'log_a2ui_event', '{"name":"blue"}'))
  talk.client.addMessage(result('y1', 'k1', 'clicked'))
  await talk.send()
  expect(talker.prompt().slice(-2)).toEqual([
    'model: log_a2ui_event({"name":"blue"})',
    'user: log_a2ui_event -> {"result":"clicked"}',
  ])
})

it('an imported history survives a restart, and so do the calls that wait', async () => {
  const talker = kitTalker(['Fine.', 'It is red.'])
  const first = await serveAgents({ agents: [talker.agent], store: 'sqlite' })
  const tools = [clientTool('look')]
  const list = [user('u1', 'Look.'), calling('a1', 'c1', 'look'), user('u2', 'And how are you?')]
  await first.stream('/run', { body: inputOf({ messages: list, tools }) })
  const before = await historyOf(first)
  expect(before.map(isImported)).toEqual([false, true, false, false])
  const second = await first.restart()
  expect(await historyOf(second)).toEqual(before)
  const messages = [...before, result('t1', 'c1', 'red')]
  await second.stream('/run', { body: inputOf({ runId: 'run-2', messages, tools }) })
  expect(talker.prompt()).toContain('tool: red')
  expect(linesOf(await historyOf(second)).at(-1)).toBe('assistant: It is red.')
})
