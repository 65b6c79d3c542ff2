import type { Tool as ToolInfo } from '@ag-ui/core'
import {
  BasePlugin,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  LongRunningFunctionTool,
  SequentialAgent,
  StreamingMode,
  type BaseSessionService,
  type Event,
  type LlmAgentConfig,
  type LlmResponse,
} from '@google/adk'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callsTool, says, ScriptedLlm, whole, type LlmStep } from '../../test/support/adk/scripted-llm.js'
import { createClient, idOf, interruptsOf, ofType, resultsIn } from '../../test/support/run-agent.js'
import { agentTool, defineAgent, type Agent } from '../agents/index.js'
import { scriptedModel } from '../models/index.js'
import { demoLlm } from './demo-llm.js'
import { fromAdk } from './from-adk.js'
import type { AdkOptions } from './contract.js'

/* eslint-disable @typescript-eslint/no-deprecated -- composites are on their way out, and in use */

const weather = new FunctionTool({
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }, context) => {
    context?.state.set('last_city', city)
    return { temperature: 21 }
  },
})
const pickColor: ToolInfo = {
  name: 'pick_color',
  description: 'Lets the user pick a colour.',
  parameters: { type: 'object', properties: { hint: { type: 'string' } } },
}

function helper(steps: readonly LlmStep[], options: AdkOptions & { tools?: FunctionTool[] } = {}) {
  const { tools = [weather], ...rest } = options
  const llm = new ScriptedLlm(steps)
  const agent = fromAdk(new LlmAgent({ name: 'helper', description: 'Helps.', model: llm, tools }), rest)
  return { llm, agent }
}

describe('an agent of ADK', () => {
  it('streams a text and keeps the conversation', async () => {
    const { llm, agent } = helper([says('Hel', 'lo'), says('Again')])
    const client = createClient(agent)
    const first = await client.say('Hi')
    expect(ofType(first.events, 'TEXT_MESSAGE_CONTENT').map(({ delta }) => delta)).toEqual(['Hel', 'lo'])
    const second = await client.say('And now?')
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Again' })
    expect(llm.calls[1]).toMatchObject([
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [{ text: 'Hello' }] },
      { role: 'user', parts: [{ text: 'And now?' }] },
    ])
  })

  it('calls its own tools and shares their state', async () => {
    const { agent } = helper([
      callsTool({ name: 'get_weather', args: { city: 'Oslo' } }),
      says('It is ', '21'),
    ])
    const played = await createClient(agent).say('Weather in Oslo?')
    expect(ofType(played.events, 'TOOL_CALL_START')).toMatchObject([{ toolCallName: 'get_weather' }])
    expect(resultsIn(played.events)[0]).toContain('{"temperature":21}')
    expect(played.outcome).toMatchObject({
      type: 'completed',
      text: 'It is 21',
      state: { last_city: 'Oslo' },
    })
  })

  it('leaves the calls of client tools to the client, and goes on with their results', async () => {
    const { llm, agent } = helper([
      callsTool({ name: 'pick_color', args: { hint: 'warm' } }),
      says('Red it is'),
    ])
    const client = createClient(agent, [pickColor])
    const { outcome } = await client.say('Pick one')
    if (outcome.type !== 'completed') throw new Error(outcome.type)
    const [call] = outcome.pendingToolCalls
    expect(call).toMatchObject({ function: { name: 'pick_color', arguments: '{"hint":"warm"}' } })
    expect(llm.calls).toHaveLength(1)
    const second = await client.send({
      messages: [...client.messages, { id: 't1', role: 'tool', toolCallId: call?.id ?? '', content: 'red' }],
    })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Red it is' })
    expect(llm.calls[1]).toMatchObject([
      { parts: [{ text: 'Pick one' }] },
      { parts: [{ functionCall: { name: 'pick_color' } }] },
      { parts: [{ functionResponse: { name: 'pick_color', response: { result: 'red' } } }] },
    ])
  })

  it('leaves it to the client to confirm predicted state, with a call that has a name', async () => {
    const { llm, agent } = helper(
      [callsTool({ name: 'get_weather', args: { city: 'Oslo' } }), says('21 degrees'), says('Good')],
      { predictState: [{ stateKey: 'last_city', tool: 'get_weather', toolArgument: 'city' }] },
    )
    const client = createClient(agent)
    const { outcome } = await client.say('Weather?')
    if (outcome.type !== 'completed') throw new Error(outcome.type)
    expect(outcome.pendingToolCalls).toMatchObject([
      { function: { name: 'confirm_changes', arguments: '{}' } },
    ])
    const toolCallId = outcome.pendingToolCalls[0]?.id ?? ''
    const second = await client.send({
      messages: [
        ...client.messages,
        { id: 't1', role: 'tool', toolCallId, content: '{"accepted":true}' },
        { id: 'u2', role: 'user', content: 'Fine.' },
      ],
    })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Good', pendingToolCalls: [] })
    expect(JSON.stringify(llm.calls)).not.toContain('confirm_changes')
  })

  it('goes on after a restart with sessions in memory: they are made again from the thread', async () => {
    const before = helper([callsTool({ name: 'get_weather', args: { city: 'Oslo' } }), says('21 degrees')])
    const after = helper([says('Still 21')])
    let agent: Agent = before.agent
    const client = createClient({ name: 'helper', description: '', run: (ctx) => agent.run(ctx) })
    await client.say('Weather?')
    agent = after.agent
    await client.say('And now?')
    expect(after.llm.calls[0]).toMatchObject([
      { role: 'user', parts: [{ text: 'Weather?' }] },
      { role: 'model', parts: [{ functionCall: { name: 'get_weather', args: { city: 'Oslo' } } }] },
      { role: 'user', parts: [{ functionResponse: { response: { temperature: 21 } } }] },
      { role: 'model', parts: [{ text: '21 degrees' }] },
      { role: 'user', parts: [{ text: 'And now?' }] },
    ])
  })
})

describe('a long-running tool of the agent', () => {
  it('leaves its answer to the client when it gives none', async () => {
    const order = new LongRunningFunctionTool({
      name: 'order',
      description: 'Orders something. The result comes later.',
      parameters: z.object({ item: z.string() }),
      execute: () => null,
    })
    const { llm, agent } = helper(
      [callsTool({ name: 'order', args: { item: 'tea' } }), says('Here is your tea')],
      {
        tools: [order],
      },
    )
    const client = createClient(agent)
    const { outcome } = await client.say('Tea, please')
    if (outcome.type !== 'completed') throw new Error(outcome.type)
    const [call] = outcome.pendingToolCalls
    expect(call).toMatchObject({ function: { name: 'order' } })
    expect(llm.calls).toHaveLength(1)
    const content = '{"status":"delivered"}'
    const second = await client.send({
      messages: [...client.messages, { id: 't1', role: 'tool', toolCallId: call?.id ?? '', content }],
    })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Here is your tea' })
    expect(llm.calls[1]?.at(-1)).toMatchObject({
      parts: [{ functionResponse: { response: { status: 'delivered' } } }],
    })
  })
})

describe('a tool that asks for confirmation', () => {
  const deletions: string[] = []
  const remove = new FunctionTool({
    name: 'remove_file',
    description: 'Removes a file.',
    parameters: z.object({ path: z.string() }),
    requireConfirmation: true,
    execute: ({ path }) => {
      deletions.push(path)
      return { removed: path }
    },
  })
  const steps = [
    callsTool({ name: 'remove_file', args: { path: '/a' } }, { name: 'get_weather', args: { city: 'X' } }),
  ]

  it.each([
    ['in the same process', false],
    ['after a restart with sessions in memory', true],
  ])('runs when the person agrees, %s', async (_, restarts) => {
    deletions.length = 0
    const tools = [remove, weather]
    const before = helper([...steps, ...(restarts ? [] : [says('Gone.')])], { tools })
    const after = helper([says('Gone.')], { tools })
    let agent: Agent = before.agent
    const client = createClient({ name: 'helper', description: '', run: (ctx) => agent.run(ctx) })
    const asked = await client.say('Remove /a')
    expect(interruptsOf(asked)).toMatchObject([
      { reason: 'confirmation', metadata: { toolName: 'remove_file' } },
    ])
    expect(deletions).toEqual([])
    // The tool beside it has run: its result is not lost.
    expect(resultsIn(asked.events)).toHaveLength(1)
    if (restarts) agent = after.agent
    const answered = await client.answer({ [idOf(asked)]: { confirmed: true } })
    expect(deletions).toEqual(['/a'])
    expect(answered.outcome).toMatchObject({ type: 'completed', text: 'Gone.' })
    const { llm } = restarts ? after : before
    expect(llm.calls.at(-1)).toMatchObject([
      { parts: [{ text: 'Remove /a' }] },
      { parts: [{ functionCall: { name: 'remove_file' } }, { functionCall: { name: 'get_weather' } }] },
      {
        parts: [
          { functionResponse: { name: 'remove_file', response: { removed: '/a' } } },
          { functionResponse: { name: 'get_weather', response: { temperature: 21 } } },
        ],
      },
    ])
  })

  it('does not run when the person walks away', async () => {
    deletions.length = 0
    const { agent } = helper([...steps, says('All right.')], { tools: [remove, weather] })
    const client = createClient(agent)
    const asked = await client.say('Remove /a')
    const { outcome } = await client.answer({ [idOf(asked)]: 'cancelled' })
    expect(outcome).toMatchObject({ type: 'completed', text: 'All right.' })
    expect(deletions).toEqual([])
  })
})

describe('a sequence', () => {
  it('waits for the client in the middle, and goes on there', async () => {
    const [a, b, c] = [
      new ScriptedLlm([says('A done')]),
      new ScriptedLlm([callsTool({ name: 'pick_color' }), says('B has ', 'red')]),
      new ScriptedLlm([says('C done')]),
    ]
    const root = new SequentialAgent({
      name: 'line',
      subAgents: [
        new LlmAgent({ name: 'a', model: a }),
        new LlmAgent({ name: 'b', model: b }),
        new LlmAgent({ name: 'c', model: c }),
      ],
    })
    const client = createClient(fromAdk(root), [pickColor])
    const { outcome } = await client.say('Go')
    if (outcome.type !== 'completed') throw new Error(outcome.type)
    expect([a.calls.length, b.calls.length, c.calls.length]).toEqual([1, 1, 0])
    const toolCallId = outcome.pendingToolCalls[0]?.id ?? ''
    const answered = await client.send({
      messages: [...client.messages, { id: 't1', role: 'tool', toolCallId, content: '"red"' }],
    })
    const { events } = answered
    expect([a.calls.length, b.calls.length, c.calls.length]).toEqual([1, 2, 1])
    expect(ofType(events, 'SUBAGENT_STARTED').map(({ name }) => name)).toEqual(['b', 'c'])
    expect(answered.outcome).toMatchObject({ type: 'completed', text: 'C done' })
  })
})

describe('the state', () => {
  it("is the client's before the run, and reaches tools and instructions", async () => {
    const service: BaseSessionService = new InMemorySessionService()
    const llm = new ScriptedLlm([says('ok'), says('ok')])
    const root = new LlmAgent({ name: 'helper', model: llm, instruction: 'The theme is {theme}.' })
    const client = createClient(fromAdk(root, { sessionService: service }))
    await client.send({
      messages: [{ id: 'u1', role: 'user', content: 'Hi' }],
      state: { theme: 'dark', gone: 1 },
    })
    expect(JSON.stringify(llm.requests[0]?.config?.systemInstruction)).toContain('The theme is dark.')
    await client.send({
      messages: [...client.messages, { id: 'u2', role: 'user', content: 'Hi' }],
      state: { theme: 'light' },
    })
    const key = { appName: 'helper', userId: 'local', sessionId: client.threadId }
    expect((await service.getSession(key))?.state).toMatchObject({ theme: 'light', gone: null })
  })
})

describe('the owner of a run', () => {
  it('may drop every event: the state is still the one of the session', async () => {
    const { agent } = helper([callsTool({ name: 'get_weather', args: { city: 'Oslo' } }), says('21')])
    const seen: unknown[] = []
    const native = {
      change: (event: unknown) => {
        seen.push(event)
        return []
      },
    }
    const { events, outcome } = await createClient(agent).say('Weather?', { native })
    expect(seen.length).toBeGreaterThan(3)
    expect(ofType(events, 'TOOL_CALL_START')).toEqual([])
    expect(outcome.state).toEqual({ last_city: 'Oslo' })
  })
})

describe('a failure', () => {
  it('of the model ends the run with an error, once', async () => {
    const { agent } = helper([[new Error('no quota')]])
    const { events, outcome } = await createClient(agent).say('Hi')
    expect(outcome.type).toBe('failed')
    expect(ofType(events, 'RUN_ERROR')).toMatchObject([{ code: 'MODEL_ERROR' }])
  })

  it('with text before it keeps the text', async () => {
    const { agent } = helper([[whole([{ text: 'cut o' }], { errorCode: 'MAX_TOKENS', errorMessage: '' })]])
    const { outcome } = await createClient(agent).say('Hi')
    expect(outcome).toMatchObject({ type: 'completed', text: 'cut o' })
  })
})

it('an agent of ADK is a tool of a kit agent, with a conversation of its own for each call', async () => {
  const llm = new ScriptedLlm([says('Oslo is in ', 'Norway.'), says('Rome is in Italy.')])
  const sessionService = new InMemorySessionService()
  const expert = fromAdk(new LlmAgent({ name: 'expert', description: 'Knows places.', model: llm }), {
    sessionService,
  })
  const callExpert = (id: string, request: string) => ({
    toolCall: { id, name: 'expert', args: { request } },
  })
  const model = scriptedModel([
    [callExpert('c1', 'Where is Oslo?')],
    [callExpert('c2', 'Where is Rome?')],
    'Now you know.',
  ])
  const client = createClient(defineAgent({ name: 'chat', model, tools: [agentTool(expert)] }))
  const { events, outcome } = await client.say('Oslo and Rome?')
  expect(outcome).toMatchObject({ type: 'completed', text: 'Now you know.' })
  expect(ofType(events, 'SUBAGENT_STARTED').map(({ name }) => name)).toEqual(['expert', 'expert'])
  expect(ofType(events, 'TOOL_CALL_RESULT').map(({ content }) => content)).toEqual([
    'Oslo is in Norway.',
    'Rome is in Italy.',
  ])
  expect(llm.calls).toMatchObject([
    [{ parts: [{ text: 'Where is Oslo?' }] }],
    [{ parts: [{ text: 'Where is Rome?' }] }],
  ])
  const { sessions } = await sessionService.listSessions({ appName: 'expert', userId: 'local' })
  expect(sessions).toEqual([])
})

describe('plugins', () => {
  /** A plugin that listens to what a test gives it. */
  function plugin(name: string, members: Partial<BasePlugin>): BasePlugin {
    return Object.assign(new (class extends BasePlugin {})(name), members)
  }

  function serve(plugins: readonly BasePlugin[]) {
    const model = new ScriptedLlm([says('one ', 'two')])
    return createClient(fromAdk(new LlmAgent({ name: 'helper', model }), { plugins }))
  }

  describe('plugins of the team', () => {
    it('hear of every event and every piece of an answer', async () => {
      const heard: Event[] = []
      const pieces: LlmResponse[] = []
      const onEvents = plugin('events', {
        onEventCallback: ({ event }) => (heard.push(event), Promise.resolve(undefined)),
      })
      const onModel = plugin('model', {
        afterModelCallback: ({ llmResponse }) => (pieces.push(llmResponse), Promise.resolve(undefined)),
      })
      await serve([onEvents, onModel]).say('Hi')
      expect(heard).toHaveLength(3)
      expect(pieces).toHaveLength(3)
    })

    it('may change what they hear of', async () => {
      const changing = plugin('changing', {
        afterModelCallback: ({ llmResponse }) =>
          Promise.resolve(llmResponse.partial ? undefined : whole([{ text: 'one two three' }])),
      })
      const { outcome } = await serve([changing]).say('Hi')
      expect(outcome).toMatchObject({ type: 'completed', text: 'one two three' })
    })

    it.each(['onEventCallback', 'afterModelCallback'] as const)(
      'are named when %s fails',
      async (callback) => {
        const failing = plugin('the-bad-one', { [callback]: () => Promise.reject(new Error('kaput')) })
        const { outcome } = await serve([failing]).say('Hi')
        expect(outcome.type).toBe('failed')
        expect(inspect(outcome)).toContain('the-bad-one')
      },
    )

    it('must have names of their own', async () => {
      expect(() => serve([plugin('same', {}), plugin('same', {})])).toThrow("Two plugins are named 'same'")
      const { outcome } = await serve([plugin('millrace', {})]).say('Hi')
      expect(outcome.type).toBe('failed')
    })
  })
})

describe('the demo model', () => {
  const parameters = z.object({ city: z.string(), days: z.number().int().optional() })
  const weather = new FunctionTool({
    name: 'get_weather',
    description: 'Tells the weather in a city.',
    parameters,
    execute: ({ city }) => ({ city, temperature: 7 }),
  })
  const failing = new FunctionTool({
    name: 'send_mail',
    description: 'Sends a mail.',
    parameters: z.object({ to: z.string() }),
    execute: () => Promise.reject(new Error('no route')),
  })

  function talkTo(config: Partial<LlmAgentConfig> = {}, options: AdkOptions = {}) {
    const model = demoLlm({ paceMs: 0 })
    return createClient(fromAdk(new LlmAgent({ name: 'helper', model, ...config }), options))
  }

  it('streams what it says', async () => {
    const { events, outcome } = await talkTo().say('Tell me a story.')
    expect(ofType(events, 'TEXT_MESSAGE_CONTENT').length).toBeGreaterThan(10)
    expect(outcome).toMatchObject({
      type: 'completed',
      text: expect.stringMatching(/^Once a mill/) as string,
    })
  })

  it('says it whole when it is not to stream', async () => {
    const { events } = await talkTo({}, { runConfig: { streamingMode: StreamingMode.NONE } }).say('Hello')
    expect(ofType(events, 'TEXT_MESSAGE_CONTENT')).toHaveLength(1)
  })

  it('thinks, calls the tool that fits, and tells its result', async () => {
    const { events, outcome } = await talkTo({ tools: [weather, failing] }).say('Is it raining in Oslo?')
    expect(ofType(events, 'REASONING_MESSAGE_CONTENT').length).toBeGreaterThan(1)
    expect(ofType(events, 'TOOL_CALL_ARGS').map(({ delta }) => delta)).toEqual(['{"city":"Oslo"}'])
    expect(outcome).toMatchObject({ text: 'It is 7 °C in Oslo.' })
  })

  it('tells of a tool that failed', async () => {
    const { outcome } = await talkTo({ tools: [failing] }).say('Send a mail to Bob.')
    expect(outcome).toMatchObject({ text: expect.stringContaining('no route') as string })
  })

  it('knows whose question came last', async () => {
    const client = talkTo({ tools: [weather] })
    await client.say('Is it raining in Oslo?')
    const { outcome } = await client.say('And what is the weather in Bergen?')
    expect(outcome).toMatchObject({ text: 'It is 7 °C in Bergen.' })
  })

  it('tells what a person agreed to', async () => {
    const book = new FunctionTool({
      name: 'book_table',
      description: 'Books a table.',
      parameters: z.object({ people: z.number().int() }),
      requireConfirmation: true,
      execute: ({ people }) => `A table for ${people} is booked.`,
    })
    const client = talkTo({ tools: [book] })
    const asked = await client.say('Book a table for 2.')
    const { outcome } = await client.answer({ [idOf(asked)]: { confirmed: true } })
    expect(outcome).toMatchObject({ text: 'A table for 2 is booked.' })
  })

  it('fills in a schema', async () => {
    const { outcome } = await talkTo({ outputSchema: parameters }).say('Tell me about Rome')
    expect(outcome).toMatchObject({ type: 'completed', result: { city: 'Rome' } })
  })
})
