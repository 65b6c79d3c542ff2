import { describe, expect, test } from 'vitest'
import { modelFromEnv, type ModelPart } from '../../src/models/index.js'
import { partsOf, wholeOf } from './support-models-parts.js'
import { clients, connect, speaking, startMock } from './support-models-providers.js'

const tools = [
  {
    name: 'weather',
    description: 'Tells the weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
]
const finishOf = (parts: readonly ModelPart[]) => parts.find((part) => part.type === 'finish')

describe.each(clients)('$name', (client) => {
  test('streams text, word by word', async () => {
    const mock = await startMock({ chunkSize: 5 })
    mock.onMessage('hello', { content: 'Hello to you too, friend.' })
    const parts = await partsOf(connect(client, mock.url).model)
    expect(wholeOf(parts)).toEqual({ text: 'Hello to you too, friend.', reasoning: '', calls: [] })
    expect(parts.filter(({ type }) => type === 'text-delta').length).toBeGreaterThan(2)
    expect(finishOf(parts)).toMatchObject({ reason: 'stop' })
  })

  test('calls tools in parallel, after some words, and streams their arguments', async () => {
    const mock = await startMock({ chunkSize: 5 })
    const toolCalls = ['Oslo', 'Rome'].map((city, index) => ({
      id: `call_${index}`,
      name: 'weather',
      arguments: JSON.stringify({ city }),
    }))
    mock.onMessage('hello', { content: 'Let me look.', toolCalls, finishReason: 'tool_calls' })
    const { model, bodies } = connect(client, mock.url)
    const parts = await partsOf(model, { tools, toolChoice: 'required' })
    expect(wholeOf(parts)).toEqual({
      text: 'Let me look.',
      reasoning: '',
      calls: toolCalls.map(({ arguments: args, ...call }) => ({ ...call, args })),
    })
    // Gemini sends the arguments of a call at once.
    const deltas = parts.filter(({ type }) => type === 'tool-call-delta')
    expect(deltas.length).toBeGreaterThan(client.api === 'gemini' ? 1 : 4)
    expect(JSON.stringify(bodies)).toContain('Tells the weather.')
  })

  test('tells its usage', async () => {
    const mock = await startMock()
    const names = {
      chat: ['prompt_tokens', 'completion_tokens'],
      responses: ['input_tokens', 'output_tokens'],
      messages: ['input_tokens', 'output_tokens'],
      gemini: ['promptTokenCount', 'candidatesTokenCount'],
    }[client.api]
    mock.onMessage('hello', { content: 'Hi', usage: { [String(names[0])]: 11, [String(names[1])]: 7 } })
    const { model } = connect(client, mock.url)
    expect(finishOf(await partsOf(model))).toMatchObject({
      usage: {
        provider: model.provider,
        model: model.modelId,
        inputTokens: 11,
        outputTokens: 7,
        totalTokens: 18,
      },
    })
  })

  test('answers in the shape that is asked for', async () => {
    const mock = await startMock()
    const schema = {
      type: 'object',
      properties: { answer: { type: 'integer' } },
      required: ['answer'],
      additionalProperties: false,
    }
    mock.on({ predicate: () => true }, { content: '{"answer":42}' })
    const { model, bodies } = connect(client, mock.url)
    const parts = await partsOf(model, { output: { name: 'deep_thought', schema } })
    expect(JSON.parse(wholeOf(parts).text)).toEqual({ answer: 42 })
    const [body] = bodies
    const asked = {
      chat: () => body?.response_format,
      responses: () => body?.text,
      messages: () => body?.output_config ?? body?.output_format,
      gemini: () => body?.generationConfig,
    }[client.api]()
    expect(JSON.stringify(asked)).toContain('"answer":{"type":"integer"}')
  })

  test('passes settings on', async () => {
    const mock = await startMock()
    mock.onMessage('hello', { content: 'Hi' })
    const { model, bodies } = connect(client, mock.url)
    await partsOf(model, { settings: { maxOutputTokens: 123 }, instructions: 'Be brief.' })
    expect(JSON.stringify(bodies)).toMatch(/:123\b/)
    expect(JSON.stringify(bodies)).toContain('Be brief.')
  })
})

test.each(speaking('responses', 'messages', 'gemini'))(
  '$name streams reasoning before the text',
  async (client) => {
    const mock = await startMock({ chunkSize: 5 })
    mock.onMessage('hello', { content: 'Hi', reasoning: 'They greet me. I greet back.' })
    const parts = await partsOf(connect(client, mock.url).model)
    expect(wholeOf(parts)).toMatchObject({ text: 'Hi', reasoning: 'They greet me. I greet back.' })
    expect(parts.filter(({ type }) => type === 'reasoning-delta').length).toBeGreaterThan(2)
  },
)

test('a server of your own is found in the environment', async () => {
  const mock = await startMock()
  mock.onMessage('hello', { content: 'Hi from here' })
  const env = { OPENAI_BASE_URL: `${mock.url}/v1`, MILLRACE_MODEL: 'local/llama' }
  expect(wholeOf(await partsOf(await modelFromEnv({ env }))).text).toBe('Hi from here')
  expect(mock.getLastRequest()).toMatchObject({
    path: '/v1/chat/completions',
    body: { model: 'local/llama' },
  })
})
