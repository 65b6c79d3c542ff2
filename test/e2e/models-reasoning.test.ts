import type { Message } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import type { Model, ModelSettings } from '../../src/models/index.js'
import { bodyOf } from './loopback.js'
import { partsOf, wholeOf } from './support-models-parts.js'
import { connect, messagesOf, speaking, startMock } from './support-models-providers.js'
import { beginStream, frame, serveOrigin } from './support-models-sse.js'

const tools = [{ name: 'weather', description: 'Tells the weather.' }]
const question: Message = { id: 'u', role: 'user', content: 'hello' }

/** Lets a model think and call a tool, then asks again with the result of the tool. Gives the first answer. */
async function twoTurns(model: Model, settings: ModelSettings = {}) {
  const parts = await partsOf(model, { messages: [question], tools, settings })
  const results = wholeOf(parts).calls.map(({ id }): Message => ({
    id: `result of ${id}`,
    role: 'tool',
    toolCallId: id,
    content: 'rain',
  }))
  expect(results).toHaveLength(1)
  await partsOf(model, { messages: [question, ...messagesOf(parts), ...results], tools, settings })
  return parts
}

/** Serves the same event stream for every request. */
function serveFrames(events: readonly object[]) {
  return serveOrigin((incoming, response) => {
    void bodyOf(incoming).then(() => beginStream(response).end(events.map(frame).join('')))
  })
}

test('Anthropic gets its signatures and redacted thoughts back, in their order', async () => {
  const [client] = speaking('messages')
  if (client === undefined) throw new Error('no client')
  const mock = await startMock()
  mock.on(
    { predicate: () => true },
    {
      reasoning: 'Rain or not?',
      reasoningSignature: 'signed-by-anthropic',
      redactedThinking: ['cmVkYWN0ZWQ='],
      toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' }],
    },
  )
  const { model, bodies } = connect(client, mock.url)
  await twoTurns(model)
  expect(bodies[1]?.messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'hello' }] },
    {
      role: 'assistant',
      content: [
        { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' },
        { type: 'thinking', thinking: 'Rain or not?', signature: 'signed-by-anthropic' },
        { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Oslo' } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'rain' }] },
  ])
})

describe.each(speaking('responses'))('$name', (client) => {
  const reasoning = { type: 'reasoning', id: 'rs_1' }
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'weather' }
  const summary = (summary_index: number, delta: string) => [
    { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index },
    { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', summary_index, delta },
    { type: 'response.reasoning_summary_part.done', item_id: 'rs_1', summary_index },
  ]
  const events = [
    { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'gpt-5-mini' } },
    { type: 'response.output_item.added', output_index: 0, item: { ...reasoning, encrypted_content: null } },
    ...summary(0, 'Rain or not?'),
    ...summary(1, 'I look.'),
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { ...reasoning, encrypted_content: 'encrypted-by-openai', summary: [] },
    },
    { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '{"city":' },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '"Oslo"}' },
    {
      type: 'response.output_item.done',
      output_index: 1,
      item: { ...call, arguments: '{"city":"Oslo"}', status: 'completed' },
    },
    {
      type: 'response.completed',
      response: {
        usage: {
          input_tokens: 50,
          input_tokens_details: { cached_tokens: 20 },
          output_tokens: 30,
          output_tokens_details: { reasoning_tokens: 12 },
        },
      },
    },
  ]

  test('gets its encrypted reasoning back where it stores nothing', async () => {
    const { model, bodies } = connect(client, await serveFrames(events))
    const settings = {
      providerOptions: { openai: { store: false, include: ['reasoning.encrypted_content'] } },
    }
    const parts = await twoTurns(model, settings)
    expect(wholeOf(parts).reasoning).toBe('Rain or not?I look.')
    expect(bodies[1]?.input).toEqual([
      { role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
      {
        type: 'reasoning',
        id: 'rs_1',
        encrypted_content: 'encrypted-by-openai',
        summary: [
          { type: 'summary_text', text: 'Rain or not?' },
          { type: 'summary_text', text: 'I look.' },
        ],
      },
      expect.objectContaining({ type: 'function_call', call_id: 'call_1', arguments: '{"city":"Oslo"}' }),
      { type: 'function_call_output', call_id: 'call_1', output: 'rain' },
    ])
  })

  test('gets the ids of what it has stored', async () => {
    const { model, bodies } = connect(client, await serveFrames(events))
    await twoTurns(model)
    expect(bodies[1]?.input).toContainEqual({ type: 'item_reference', id: 'rs_1' })
  })

  test('tells cached and reasoning tokens as parts of the whole', async () => {
    const parts = await partsOf(connect(client, await serveFrames(events)).model, { tools })
    expect(parts.at(-1)).toEqual({
      type: 'finish',
      reason: 'tool-calls',
      usage: {
        provider: 'openai',
        model: 'gpt-5-mini',
        inputTokens: 50,
        outputTokens: 30,
        totalTokens: 80,
        reasoningTokens: 12,
        cachedInputTokens: 20,
      },
    })
  })
})

describe.each(speaking('gemini'))('$name', (client) => {
  const candidate = (parts: object[], fields = {}) => ({
    candidates: [{ content: { role: 'model', parts }, ...fields }],
  })
  const events = [
    candidate([{ text: 'Rain or not?', thought: true }]),
    candidate([
      { functionCall: { id: 'call_1', name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'signed' },
    ]),
    {
      ...candidate([{ text: '' }], { finishReason: 'STOP' }),
      usageMetadata: {
        promptTokenCount: 9,
        candidatesTokenCount: 4,
        thoughtsTokenCount: 5,
        totalTokenCount: 18,
      },
    },
  ]

  test('gets the signature of its thoughts back with the call', async () => {
    const { model, bodies } = connect(client, await serveFrames(events))
    await twoTurns(model)
    expect(bodies[1]?.contents).toEqual([
      { role: 'user', parts: [{ text: 'hello' }] },
      {
        role: 'model',
        parts: [
          { text: 'Rain or not?', thought: true },
          {
            functionCall: { id: 'call_1', name: 'weather', args: { city: 'Oslo' } },
            thoughtSignature: 'signed',
          },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'call_1',
              name: 'weather',
              response: { name: 'weather', content: 'rain' },
            },
          },
        ],
      },
    ])
  })

  test('counts its thoughts as output', async () => {
    const parts = await partsOf(connect(client, await serveFrames(events)).model, { tools })
    expect(parts.at(-1)).toMatchObject({
      usage: { inputTokens: 9, outputTokens: 9, totalTokens: 18, reasoningTokens: 5 },
    })
  })
})
