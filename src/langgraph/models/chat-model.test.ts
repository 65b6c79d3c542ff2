import { HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { aborted, createClient, ofType, resultsIn } from '../../../test/support/run-agent.js'
import { demoModel, scriptedModel, type Model, type ModelPart } from '../../models/index.js'
import { fromLangGraph } from '../from-langgraph.js'
import { toChatModel } from './chat-model.js'

const weather = tool(({ city }) => `${city}: rain`, {
  name: 'weather',
  description: 'Tells the weather.',
  schema: z.object({ city: z.string() }),
})

/** A model that gives these parts. */
const partsModel = (parts: readonly ModelPart[]): Model => ({
  provider: 'parts',
  modelId: 'parts-1',
  async *stream() {
    await Promise.resolve()
    yield* parts
  },
})

describe('toChatModel', () => {
  it('streams text, and gives it whole to those who do not stream', async () => {
    const script = scriptedModel(['It rains.', 'It rains.'], { chunkSize: 3 })
    const model = toChatModel(script)
    const pieces: string[] = []
    for await (const { text } of await model.stream('Rain?')) pieces.push(text)
    expect(pieces.filter(Boolean)).toEqual(['It ', 'rai', 'ns.'])
    expect((await model.invoke([new SystemMessage('Be brief.'), new HumanMessage('Rain?')])).content).toBe(
      'It rains.',
    )
    expect(script.requests[1]?.messages).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Rain?' },
    ])
  })

  it('calls tools side by side, and knows their results', async () => {
    const script = scriptedModel([
      [
        { toolCall: { name: 'weather', args: { city: 'Oslo' } } },
        { toolCall: { name: 'weather', args: { city: 'Bergen' } } },
      ],
      'Rain in both.',
    ])
    const model = toChatModel(script).bindTools([weather])
    const asked = new HumanMessage('Rain?')
    const answer = await model.invoke([asked])
    expect(answer.tool_calls).toMatchObject([
      { id: 'call-1', name: 'weather', args: { city: 'Oslo' } },
      { id: 'call-2', name: 'weather', args: { city: 'Bergen' } },
    ])
    expect(script.requests[0]?.tools).toMatchObject([
      { name: 'weather', description: 'Tells the weather.', parameters: { required: ['city'] } },
    ])
    const results = ['call-1', 'call-2'].map((id) => new ToolMessage({ tool_call_id: id, content: id }))
    await model.invoke([asked, answer, ...results])
    expect(script.requests[1]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
    ])
    expect(script.requests[1]?.messages[1]).toMatchObject({ toolCalls: [{ id: 'call-1' }, { id: 'call-2' }] })
  })

  it.each([
    ['any', 'required'],
    ['none', 'none'],
    ['weather', { toolName: 'weather' }],
    [{ type: 'function', function: { name: 'weather' } }, { toolName: 'weather' }],
  ])('may be told to call a tool: %j', async (choice, expected) => {
    const script = scriptedModel(['Well.'])
    await toChatModel(script).bindTools([weather], { tool_choice: choice }).invoke('Rain?')
    expect(script.requests[0]?.toolChoice).toEqual(expected)
  })

  it('stops when it is aborted, and so does the provider', async () => {
    const abort = new AbortController()
    let isStopped = false
    const wait = async (signal: AbortSignal): Promise<void> => {
      abort.abort(new Error('enough'))
      await aborted(signal)
      isStopped = true
    }
    const model = toChatModel(scriptedModel([['One, ', { wait }, 'two']]))
    const said: string[] = []
    const read = (async () => {
      for await (const { text } of await model.stream('Count.', { signal: abort.signal })) said.push(text)
    })()
    await expect(read).rejects.toThrow()
    expect([isStopped, said.join('')]).toEqual([true, 'One, '])
  })

  it('thinks, and gives what was sealed back to the provider', async () => {
    const model = toChatModel(
      partsModel([
        { type: 'reasoning-delta', delta: 'Let me ' },
        { type: 'reasoning-delta', delta: 'see.' },
        { type: 'reasoning-end', encryptedValue: 'seal' },
        { type: 'text-delta', delta: 'I look ' },
        { type: 'text-delta', delta: 'it up.' },
        { type: 'text-end', encryptedValue: 'seal of the text' },
        { type: 'tool-call-start', toolCallId: 'c1', toolName: 'weather' },
        { type: 'tool-call-delta', toolCallId: 'c1', delta: '{"city":' },
        { type: 'tool-call-delta', toolCallId: 'c1', delta: '"Oslo"}' },
        { type: 'tool-call-end', toolCallId: 'c1', encryptedValue: 'seal of the call' },
        {
          type: 'finish',
          reason: 'tool-calls',
          usage: { inputTokens: 3, outputTokens: 4, reasoningTokens: 2 },
        },
      ]),
    )
    const answer = await model.invoke('Rain?')
    expect(answer.usage_metadata).toMatchObject({
      ...{ input_tokens: 3, output_tokens: 4, total_tokens: 7 },
      output_token_details: { reasoning: 2 },
    })
    const script = scriptedModel(['Yes.'])
    await toChatModel(script).invoke([new HumanMessage('Rain?'), answer])
    expect(script.requests[0]?.messages.slice(1)).toMatchObject([
      { role: 'reasoning', content: 'Let me see.', encryptedValue: 'seal' },
      {
        role: 'assistant',
        content: 'I look it up.',
        encryptedValue: 'seal of the text',
        toolCalls: [
          { id: 'c1', function: { arguments: '{"city":"Oslo"}' }, encryptedValue: 'seal of the call' },
        ],
      },
    ])
  })

  it('is a model for `createAgent`', async () => {
    const model = toChatModel(demoModel({ paceMs: 0 }))
    const agent = fromLangGraph(createAgent({ model, tools: [weather] }), { name: 'helper' })
    const { events, outcome } = await createClient(agent).say('What is the weather in Oslo?')
    expect(ofType(events, 'REASONING_MESSAGE_CONTENT').length).toBeGreaterThan(0)
    expect(resultsIn(events).join()).toContain('Oslo: rain')
    expect(outcome).toMatchObject({
      type: 'completed',
      text: expect.stringContaining('Oslo: rain') as string,
    })
  })

  it('is known by its provider and its name, and tells what it used', async () => {
    const script = scriptedModel([['Hi.', { usage: { inputTokens: 1, outputTokens: 2 } }]], {
      modelId: 'm-1',
    })
    const agent = fromLangGraph(createAgent({ model: toChatModel(script), tools: [] }), { name: 'helper' })
    const { outcome } = await createClient(agent).say('Hello')
    const used = { inputTokens: 1, outputTokens: 2, totalTokens: 3 }
    expect(outcome.usage).toMatchObject([{ provider: 'scripted', model: 'm-1', ...used }])
  })
})
