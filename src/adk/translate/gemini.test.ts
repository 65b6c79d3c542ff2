import { LLMock } from '@copilotkit/aimock'
import { FunctionTool, Gemini, LlmAgent, LogLevel, setLogLevel, StreamingMode } from '@google/adk'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { eventsOf } from '../../../test/support/adk/events-of.js'
import { told, translateEvents } from '../../../test/support/adk/translate-events.js'

beforeAll(() => setLogLevel(LogLevel.ERROR))

const weather = new FunctionTool({
  name: 'weather',
  description: 'Tells the weather.',
  execute: () => 'sunny',
})

const mocks = new Set<LLMock>()
afterEach(async () => {
  await Promise.all([...mocks].map((mock) => mock.stop()))
  mocks.clear()
})
const usage = (prompt: number, output: number) => ({
  promptTokenCount: prompt,
  candidatesTokenCount: output,
})

async function gemini(tools: FunctionTool[] = []) {
  const mock = await LLMock.create({ port: 0, chunkSize: 8 })
  mocks.add(mock)
  const model = new Gemini({ model: 'gemini-3-flash-preview', apiKey: 'mock' })
  const generateContentConfig = { httpOptions: { baseUrl: mock.url } }
  return { mock, agent: new LlmAgent({ name: 'root', model, generateContentConfig, tools }) }
}

test.each([StreamingMode.SSE, StreamingMode.NONE])(
  'Gemini thinks and speaks in the mode %s',
  async (mode) => {
    const { mock, agent } = await gemini()
    mock.onMessage('hello', {
      content: 'Hi there, friend!',
      reasoning: 'I should greet.',
      finishReason: 'stop',
      usage: usage(7, 5),
    })
    const translated = translateEvents(await eventsOf(agent, mode))
    expect(told(translated)).toEqual(['reasoning: I should greet.', 'assistant: Hi there, friend!'])
    const deltas = translated.stream.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
    expect(deltas.length).toBe(mode === StreamingMode.SSE ? 3 : 1)
    expect(translated.usage).toEqual([{ inputTokens: 7, outputTokens: 5, totalTokens: 12 }])
  },
)

test('Gemini speaks and uses a tool', async () => {
  const { mock, agent } = await gemini([weather])
  mock.on({ hasToolResult: true }, { content: 'It is sunny.', finishReason: 'stop', usage: usage(20, 4) })
  const toolCalls = [{ name: 'weather', arguments: '{"city":"Oslo"}' }]
  mock.onMessage('hello', { content: 'Let me check.', toolCalls, finishReason: 'stop', usage: usage(7, 9) })
  const translated = translateEvents(await eventsOf(agent))
  expect(told(translated)).toEqual([
    'assistant: Let me check. (weather)',
    'tool: sunny',
    'assistant: It is sunny.',
  ])
  expect(translated.usage.map(({ totalTokens }) => totalTokens)).toEqual([16, 24])
  expect(translated.loose.filter(({ type }) => type === 'CUSTOM')).toEqual([])
})

test('Gemini calls tools in parts of an answer that are apart', async () => {
  const { mock, agent } = await gemini([weather])
  mock.on({ hasToolResult: true }, { content: 'Both sunny.', finishReason: 'stop', usage: usage(30, 4) })
  mock.onMessage('hello', {
    blocks: [
      { type: 'toolCall', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'text', text: 'And the other.' },
      { type: 'toolCall', name: 'weather', arguments: '{"city":"Rome"}' },
    ],
    finishReason: 'stop',
    usage: usage(7, 9),
  })
  const translated = translateEvents(await eventsOf(agent))
  expect(told(translated)).toEqual([
    'assistant:  (weather)',
    'tool: sunny',
    'assistant: And the other. (weather)',
    'tool: sunny',
    'assistant: Both sunny.',
  ])
  expect(translated.usage.map(({ totalTokens }) => totalTokens)).toEqual([16, 34])
  expect(translated.problems).toEqual([])
})

test('Gemini is cut off, refuses, or cannot be reached', async () => {
  const cut = await gemini()
  cut.mock.onMessage('hello', { content: 'Once upon a time', finishReason: 'length' })
  const short = translateEvents(await eventsOf(cut.agent))
  expect(told(short)).toEqual(['assistant: Once upon a time'])
  expect(short.translator.error).toBeUndefined()
  expect(short.loose.at(-1)).toEqual({
    type: 'CUSTOM',
    name: 'adk.finish',
    value: { reason: 'MAX_TOKENS' },
  })

  const refusing = await gemini()
  refusing.mock.onMessage('hello', { content: '', finishReason: 'content_filter' })
  expect(translateEvents(await eventsOf(refusing.agent)).translator.error).toEqual({
    code: 'SAFETY',
    message: '',
  })

  const limited = await gemini()
  limited.mock.onMessage('hello', { error: { message: 'slow down' }, status: 400 })
  expect(translateEvents(await eventsOf(limited.agent)).translator.error).toEqual({
    code: '400',
    message: 'slow down',
  })
})
