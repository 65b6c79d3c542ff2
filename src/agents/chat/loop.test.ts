import type { Message } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { createClient, ofType, play, resultsIn, linted } from '../../../test/support/run-agent.js'
import { scriptedModel, type ModelRequest } from '../../models/index.js'
import type { AgUiEvent } from '../../protocol/index.js'
import { defineTool } from '../tools/define-tool.js'
import { exitTool } from '../tools/control-tools.js'
import { run } from '../run/run.js'
import { defineAgent } from './chat-agent.js'

const weather = defineTool({ name: 'weather', description: 'The weather.', execute: () => 'rain' })
const call = (id: string, name = 'weather', args: unknown = {}) => ({ toolCall: { id, name, args } })

function contentsOf(request: ModelRequest | undefined): unknown[] {
  return request?.messages.map(({ role, content }) => [role, content]) ?? []
}

describe('instructions', () => {
  test('are taken literally, braces and all', async () => {
    const model = scriptedModel(['Yes.'])
    const instructions = 'Answer as {"city": "{city}"} or {{x}} or \\frac{1}{2}.'
    const agent = defineAgent({ name: 'a', instructions, model })
    await play(agent, 'Hi.', { values: { city: 'Oslo', x: 1 } })
    expect(model.requests[0]?.instructions).toBe(instructions)
  })

  test('may be a function of the run', async () => {
    const model = scriptedModel(['Yes.'])
    const agent = defineAgent({
      name: 'a',
      instructions: ({ values, state }) =>
        Promise.resolve(`${String(values.get('who'))} ${JSON.stringify(state)}`),
      model,
    })
    await play(agent, { messages: [], state: { a: 1 } }, { values: { who: 'Ann' } })
    expect(model.requests[0]?.instructions).toBe('Ann {"a":1}')
  })

  test('are left out when there are none', async () => {
    const model = scriptedModel(['Yes.'])
    await play(defineAgent({ name: 'a', model }), 'Hi.')
    expect(model.requests[0]).not.toHaveProperty('instructions')
    expect(model.requests[0]).not.toHaveProperty('tools')
  })
})

describe('what the model says', () => {
  test('is streamed as it comes: reasoning, text, arguments', async () => {
    const model = scriptedModel(
      [[{ reasoning: 'Look it up.' }, 'One moment.', call('c1', 'weather', { city: 'Oslo' })], 'Rain.'],
      { chunkSize: 4 },
    )
    const { events } = await play(defineAgent({ name: 'a', model, tools: [weather] }), 'Rain?')
    expect(ofType(events, 'REASONING_MESSAGE_CONTENT').map(({ delta }) => delta)).toEqual([
      'Look',
      ' it ',
      'up.',
    ])
    expect(ofType(events, 'TEXT_MESSAGE_CONTENT').map(({ delta }) => delta)).toEqual([
      'One ',
      'mome',
      'nt.',
      'Rain',
      '.',
    ])
    expect(ofType(events, 'TOOL_CALL_ARGS').map(({ delta }) => delta)).toEqual([
      '{"ci',
      'ty":',
      '"Osl',
      'o"}',
    ])
    expect(resultsIn(events)).toEqual(['c1: rain'])
  })

  test('has one id in the events, in the conversation and in what the model is shown', async () => {
    const model = scriptedModel([[{ reasoning: 'Hm.' }, 'Let me see.', call('c1')], 'Rain.'])
    const { events, outcome } = await play(defineAgent({ name: 'a', model, tools: [weather] }), 'Rain?')
    const starts = events.flatMap((event) =>
      event.type === 'TEXT_MESSAGE_START' ||
      event.type === 'REASONING_MESSAGE_START' ||
      event.type === 'TOOL_CALL_RESULT'
        ? [event.messageId]
        : [],
    )
    expect(outcome.messages.slice(1).map(({ id }) => id)).toEqual(starts)
    expect(model.requests[1]?.messages.slice(1).map(({ id }) => id)).toEqual(starts.slice(0, -1))
    expect(ofType(events, 'TOOL_CALL_START')[0]?.parentMessageId).toBe(starts[1])
  })

  test('opens no message for an empty piece', async () => {
    const model = scriptedModel([[{ type: 'text-delta', delta: '' }, call('c1')], 'Rain.'])
    const { events } = await play(defineAgent({ name: 'a', model, tools: [weather] }), 'Rain?')
    expect(ofType(events, 'TEXT_MESSAGE_START')).toHaveLength(1)
  })

  test('is handed back with its encrypted values, in this run and in the next', async () => {
    const answer = [
      { reasoning: 'Secret.', encryptedValue: 'r' },
      { text: 'One moment.', encryptedValue: 't' },
      { toolCall: { id: 'c1', name: 'weather', encryptedValue: 'c' } },
    ]
    const model = scriptedModel([answer, 'Rain.', 'Still rain.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [weather] }))
    await client.say('Rain?')
    await client.say('And now?')
    for (const request of model.requests.slice(1)) {
      expect(request.messages.slice(1, 3)).toMatchObject([
        { role: 'reasoning', content: 'Secret.', encryptedValue: 'r' },
        { role: 'assistant', encryptedValue: 't', toolCalls: [{ id: 'c1', encryptedValue: 'c' }] },
      ])
    }
  })

  test('is handed back also when its reasoning is only told encrypted', async () => {
    const model = scriptedModel([[{ type: 'reasoning-end', encryptedValue: 'r' }, call('c1')], 'Rain.'])
    await play(defineAgent({ name: 'a', model, tools: [weather] }), 'Rain?')
    expect(model.requests[1]?.messages[1]).toMatchObject({
      role: 'reasoning',
      content: '',
      encryptedValue: 'r',
    })
  })
})

describe('the conversation', () => {
  test('reaches the model with every tool result exactly once', async () => {
    const model = scriptedModel([[call('c1'), call('c2')], [call('c3')], 'Rain.'])
    await play(defineAgent({ name: 'a', model, tools: [weather] }), 'Rain?')
    expect(model.requests.map(({ messages }) => messages.map(({ role }) => role))).toEqual([
      ['user'],
      ['user', 'assistant', 'tool', 'tool'],
      ['user', 'assistant', 'tool', 'tool', 'assistant', 'tool'],
    ])
  })

  test('is not changed under the hands of a model that keeps it', async () => {
    const model = scriptedModel([[call('c1')], 'Rain.'])
    await play(defineAgent({ name: 'a', model, tools: [weather] }), 'Rain?')
    expect(model.requests[0]?.messages).toHaveLength(1)
  })

  test('has calls that were never answered repaired, also without a middleware', async () => {
    const history: Message[] = [
      { id: 'u1', role: 'user', content: 'Rain?' },
      {
        id: 'a1',
        role: 'assistant',
        toolCalls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
      },
      { id: 'u2', role: 'user', content: 'Never mind.' },
    ]
    const model = scriptedModel(['Fine.'])
    const { outcome } = await play(defineAgent({ name: 'a', model, tools: [weather] }), history)
    expect(model.requests[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(outcome.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
  })

  test('tells calls apart when a provider counts from one in every answer', async () => {
    const model = scriptedModel([[call('1')], [call('1')], 'Rain.', [call('1')], 'Rain.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [weather] }))
    const first = await client.say('Rain?')
    const second = await client.say('Again?')
    const ids = [...first.events, ...second.events].flatMap((event) =>
      event.type === 'TOOL_CALL_START' ? [event.toolCallId] : [],
    )
    expect(new Set(ids).size).toBe(3)
    const answered = [...resultsIn(first.events), ...resultsIn(second.events)]
    expect(answered).toEqual(ids.map((id) => `${id}: rain`))
  })

  test('tells calls apart when a provider uses an id twice in one answer', async () => {
    const model = scriptedModel([[call('1'), call('1')], 'Rain.'])
    const { events } = await play(defineAgent({ name: 'a', model, tools: [weather] }), 'Rain?')
    const ids = ofType(events, 'TOOL_CALL_START').map(({ toolCallId }) => toolCallId)
    expect(new Set(ids).size).toBe(2)
    expect(resultsIn(events)).toEqual(ids.map((id) => `${id}: rain`))
  })
})

describe('the number of steps', () => {
  const busy = (count: number) =>
    scriptedModel([...Array.from({ length: count }, (_, n) => [call(`c${n}`)]), 'Done.'])

  test('is limited by an error that says so; what is to happen at the end does not', async () => {
    const log: string[] = []
    const agent = defineAgent({
      name: 'a',
      model: busy(5),
      tools: [weather],
      maxIterations: 5,
      middlewares: [{ onEnd: () => void log.push('end') }],
    })
    const { events, outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'MAX_ITERATIONS' } })
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'MAX_ITERATIONS' })
    expect(resultsIn(events)).toHaveLength(5)
    expect(log).toEqual([])
  })

  test('is twenty unless told', async () => {
    const tools = [weather]
    const enough = await play(defineAgent({ name: 'a', model: busy(19), tools }), 'Go.')
    expect(enough.outcome.type).toBe('completed')
    const tooMuch = await play(defineAgent({ name: 'a', model: busy(20), tools }), 'Go.')
    expect(tooMuch.outcome).toMatchObject({ error: { code: 'MAX_ITERATIONS' } })
  })

  test('may end in one more answer, without tools', async () => {
    const model = busy(2)
    const agent = defineAgent({
      name: 'a',
      instructions: 'Be quick.',
      model,
      tools: [weather],
      maxIterations: 2,
      onMaxIterations: 'answer',
    })
    const { outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([undefined, undefined, 'none'])
    expect(model.requests[2]?.instructions).toMatch(/^Be quick\.\n\nAnswer now/)
  })

  test('is an error all the same when that answer calls tools, and they do not run', async () => {
    const agent = defineAgent({
      name: 'a',
      model: busy(9),
      tools: [weather],
      maxIterations: 2,
      onMaxIterations: 'answer',
    })
    const { events, outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'MAX_ITERATIONS' } })
    expect(resultsIn(events)).toHaveLength(2)
  })

  test.each([0, -1, 1.5, Number.NaN])('of %s makes no agent', (maxIterations) => {
    expect(() => defineAgent({ name: 'a', model: busy(1), maxIterations })).toThrow(
      expect.objectContaining({ code: 'INVALID_AGENT' }),
    )
  })
})

describe('the end', () => {
  test('comes with the exit tool: the model is not called again', async () => {
    const model = scriptedModel([[call('c1', 'exit', { final_result: 'Bye.' }), call('c2')]])
    const agent = defineAgent({ name: 'a', model, tools: [exitTool(), weather] })
    const { events, outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', result: 'Bye.' })
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', result: 'Bye.' })
    expect(resultsIn(events)).toEqual(['c2: rain', 'c1: Bye.'])
  })

  test('comes with a tool that returns directly, whose result is sent last', async () => {
    const fast = defineTool({
      name: 'fast',
      description: 'd',
      returnDirectly: true,
      execute: () => ({ a: 1 }),
    })
    const slow = defineTool({
      name: 'slow',
      description: 'd',
      execute: async () => {
        for (let turn = 0; turn < 20; turn++) await Promise.resolve()
        return 'late'
      },
    })
    const model = scriptedModel([[call('c1', 'slow'), call('c2', 'fast'), call('c3', 'slow')]])
    const { events, outcome } = await play(defineAgent({ name: 'a', model, tools: [fast, slow] }), 'Go.')
    expect(resultsIn(events)).toEqual(['c1: late', 'c3: late', 'c2: {"a":1}'])
    expect(outcome).toMatchObject({ type: 'completed', result: { a: 1 } })
    expect(model.requests).toHaveLength(1)
  })

  test('is the last of several results that return directly', async () => {
    const direct = defineTool({
      name: 'direct',
      description: 'd',
      parameters: { type: 'object' },
      returnDirectly: true,
      execute: (args: { n: number }) => args.n,
    })
    const model = scriptedModel([[call('c1', 'direct', { n: 1 }), call('c2', 'direct', { n: 2 })]])
    const { outcome } = await play(defineAgent({ name: 'a', model, tools: [direct] }), 'Go.')
    expect(outcome).toMatchObject({ result: 2 })
  })

  test('does not come with a tool that returns directly and fails: the model hears of it', async () => {
    const direct = defineTool({
      name: 'direct',
      description: 'd',
      returnDirectly: true,
      execute: () => {
        throw new Error('broken')
      },
    })
    const model = scriptedModel([[call('c1', 'direct')], 'Sorry.'])
    const { outcome } = await play(defineAgent({ name: 'a', model, tools: [direct] }), 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', text: 'Sorry.' })
  })

  test('leaves the final text under the output key, also after tools', async () => {
    const seen: unknown[] = []
    const agent = (script: Parameters<typeof scriptedModel>[0], tools = [weather]) =>
      defineAgent({
        name: 'a',
        model: scriptedModel(script),
        tools,
        outputKey: 'answer',
        middlewares: [{ onEnd: (_result, { values }) => void seen.push(values.get('answer')) }],
      })
    const direct = defineTool({ name: 'direct', description: 'd', returnDirectly: true, execute: () => 'it' })
    await play(agent(['Plain.']), 'Go.')
    await play(agent([['Wait.', call('c1')], 'After tools.']), 'Go.')
    await play(agent([[call('c1', 'direct')]], [direct]), 'Go.')
    expect(seen).toEqual(['Plain.', 'After tools.', 'it'])
  })
})

describe('client tools', () => {
  const paint = { name: 'paint', description: 'Paints.', parameters: { type: 'object' } }

  test('end the turn with exactly the pending calls, after the tools of the agent have run', async () => {
    const model = scriptedModel([
      [call('c1', 'paint', { color: 'red' }), call('c2'), call('c3', 'paint')],
      'Red.',
    ])
    const client = createClient(defineAgent({ name: 'a', model, tools: [weather] }), [paint])
    const { events, outcome } = await client.say('Paint it.')
    expect(resultsIn(events)).toEqual(['c2: rain'])
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: ['c1', 'c3'] } })
    expect(outcome).toMatchObject({
      type: 'completed',
      pendingToolCalls: [
        { id: 'c1', function: { name: 'paint', arguments: '{"color":"red"}' } },
        { id: 'c3', function: { name: 'paint' } },
      ],
    })
    expect(model.requests).toHaveLength(1)
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['weather', 'paint'])

    const painted: Message[] = [
      { id: 't1', role: 'tool', toolCallId: 'c1', content: 'painted' },
      { id: 't3', role: 'tool', toolCallId: 'c3', content: 'painted too' },
    ]
    const second = await client.send({ messages: [...client.messages, ...painted] })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Red.', pendingToolCalls: [] })
    expect(contentsOf(model.requests[1])).toEqual([
      ['user', 'Paint it.'],
      ['assistant', undefined],
      ['tool', 'painted'],
      ['tool', 'rain'],
      ['tool', 'painted too'],
    ])
  })

  test('do not call what is to happen at the end: the agent goes on later', async () => {
    const log: string[] = []
    const agent = defineAgent({
      name: 'a',
      model: scriptedModel([[call('c1', 'paint')]]),
      outputKey: 'answer',
      middlewares: [{ onEnd: () => void log.push('end') }],
    })
    await createClient(agent, [paint]).say('Paint it.')
    expect(log).toEqual([])
  })

  test('give way to a tool of the agent that has the same name', async () => {
    const model = scriptedModel([[call('c1', 'paint')], 'Red.'])
    const own = defineTool({ name: 'paint', description: 'Own.', execute: () => 'by the agent' })
    const request = { messages: [{ id: 'u1', role: 'user', content: 'Paint.' }] as Message[] }
    const tools = [paint, { ...paint, name: 'other' }]
    const running = run(defineAgent({ name: 'a', model, tools: [own] }), { ...request, tools })
    const events: AgUiEvent[] = []
    // Without the client's tools: the linter takes a call to one of their names for the client's.
    for await (const event of linted(running, request)) events.push(event)
    expect(resultsIn(events)).toEqual(['c1: by the agent'])
    expect(model.requests[0]?.tools?.map(({ name, description }) => [name, description])).toEqual([
      ['paint', 'Own.'],
      ['other', 'Paints.'],
    ])
  })
})

describe('token usage', () => {
  test('is summed up for each provider and model', async () => {
    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
    const model = scriptedModel(
      [
        [call('c1'), { usage }],
        ['Rain.', { usage }],
      ],
      { provider: 'p', modelId: 'm' },
    )
    const { events, outcome } = await play(defineAgent({ name: 'a', model, tools: [weather] }), 'Rain?')
    const sum = { provider: 'p', model: 'm', inputTokens: 20, outputTokens: 10, totalTokens: 30 }
    expect(outcome.usage).toEqual([sum])
    expect(events.at(-1)).toMatchObject({ usage: [sum] })
  })
})

test('settings go to the model as they are', async () => {
  const model = scriptedModel(['Yes.'])
  const settings = { temperature: 0.2, providerOptions: { p: { x: 1 } } }
  await play(defineAgent({ name: 'a', model, settings }), 'Hi.')
  expect(model.requests[0]?.settings).toEqual(settings)
})

test('two tools of one name make no agent', () => {
  expect(() => defineAgent({ name: 'a', model: scriptedModel([]), tools: [weather, weather] })).toThrow(
    expect.objectContaining({ code: 'INVALID_AGENT' }),
  )
})

test('an agent without a name makes no agent', () => {
  expect(() => defineAgent({ name: ' ', model: scriptedModel([]) })).toThrow(
    expect.objectContaining({ code: 'INVALID_AGENT' }),
  )
})
