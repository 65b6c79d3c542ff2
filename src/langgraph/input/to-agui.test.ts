import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages'
import { describe, expect, it } from 'vitest'
import { toAgui } from './to-agui.js'

describe('toAgui', () => {
  it('reads a chunk whose content is in blocks', () => {
    const message = new AIMessageChunk({
      id: 'a',
      content: [
        { type: 'thinking', thinking: 'Let me ' },
        { type: 'thinking', thinking: 'see', signature: 'sig' },
        { type: 'text', text: 'Here' },
        { type: 'text', text: ' it is' },
        { type: 'tool_use', id: 'c1', name: 'look', input: '{"q":1}' },
      ],
      tool_call_chunks: [{ type: 'tool_call_chunk', id: 'c1', name: 'look', args: '{"q":1}', index: 0 }],
    })
    expect(toAgui([message])).toEqual([
      { id: 'a:reasoning', role: 'reasoning', content: 'Let me see', encryptedValue: 'sig' },
      {
        id: 'a',
        role: 'assistant',
        content: 'Here it is',
        toolCalls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"q":1}' } }],
      },
    ])
  })

  it.each([
    ['OpenAI', [{ type: 'reasoning', id: 'rs_1', summary: [{ text: 'Hm' }] }], {}, 'rs_1'],
    ['the standard', [{ type: 'reasoning', reasoning: 'Hm' }], {}, 'a:reasoning'],
    ['Bedrock', [{ type: 'reasoning_content', reasoningText: { text: 'Hm' } }], {}, 'a:reasoning'],
    ['DeepSeek', [], { reasoning_content: 'Hm' }, 'a:reasoning'],
    ['OpenAI, beside', [], { reasoning: { id: 'rs_2', summary: [{ text: 'Hm' }] } }, 'rs_2'],
  ])('takes out reasoning in the way of %s', (_name, content, additional_kwargs, id) => {
    const [reasoning] = toAgui([new AIMessage({ id: 'a', content, additional_kwargs })])
    expect(reasoning).toEqual({ id, role: 'reasoning', content: 'Hm' })
  })

  it('keeps the name of an agent, but not that of the node of one without a name', () => {
    const said = (name: string) => new AIMessage({ id: 'a', content: 'Hi', name })
    expect(toAgui([said('researcher'), said('model')])).toEqual([
      { id: 'a', role: 'assistant', content: 'Hi', name: 'researcher' },
      { id: 'a', role: 'assistant', content: 'Hi' },
    ])
  })

  it('keeps calls with arguments that are no JSON, and makes up ids that are missing', () => {
    const invalid = { type: 'invalid_tool_call' as const, name: 'look', args: '{"q":' }
    const message = new AIMessage({ id: 'a', content: '', invalid_tool_calls: [invalid] })
    expect(toAgui([message])).toMatchObject([
      { toolCalls: [{ id: 'a:tc0', function: { name: 'look', arguments: '{"q":' } }] },
    ])
  })

  it('gives results the id they have in the stream', () => {
    const made = new ToolMessage({ id: 'random', tool_call_id: 'c1', content: 'Done' })
    const failed = new ToolMessage({ tool_call_id: 'c2', content: 'No', status: 'error' })
    expect(toAgui([made, failed])).toEqual([
      { id: 'c1:result', role: 'tool', toolCallId: 'c1', content: 'Done' },
      { id: 'c2:result', role: 'tool', toolCallId: 'c2', content: 'No', error: 'No' },
    ])
  })

  it('takes what LangChain takes for a message, and leaves out the rest', () => {
    const messages = toAgui([
      { role: 'user', content: 'Hello', id: 'u' },
      { role: 'assistant', content: 'Hi', id: 'a' },
      new RemoveMessage({ id: 'u' }),
      new ChatMessage({ id: 'd', role: 'developer', content: 'Short' }),
      new ChatMessage({ id: 'x', role: 'critic', content: 'Bad' }),
      new SystemMessage({ id: 's', content: [{ type: 'text', text: 'Kind' }] }),
      { nothing: true },
      null,
    ])
    expect(messages).toEqual([
      { id: 'u', role: 'user', content: 'Hello' },
      { id: 'a', role: 'assistant', content: 'Hi' },
      { id: 'd', role: 'developer', content: 'Short' },
      { id: 's', role: 'system', content: 'Kind' },
    ])
    expect(toAgui('nothing')).toEqual([])
  })

  it('knows a message without an id by its place, and leaves it as it is', () => {
    const message = new HumanMessage('Hello')
    const [first] = toAgui([message])
    const [again, second] = toAgui([new HumanMessage('Hello'), new HumanMessage('Hello')])
    expect(first?.id).toMatch(/^lg-/)
    expect(again?.id).toBe(first?.id)
    expect(second?.id).not.toBe(first?.id)
    expect(message.id).toBeUndefined()
  })

  it.each([
    ['OpenAI', { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }],
    ['OpenAI, short', { type: 'image_url', image_url: 'data:image/png;base64,aGk=' }],
    ['Anthropic', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }],
    ['the first standard', { type: 'image', source_type: 'base64', mime_type: 'image/png', data: 'aGk=' }],
  ])('reads an image in the way of %s', (_name, block) => {
    expect(toAgui([new HumanMessage({ id: 'u', content: [block] })])).toEqual([
      {
        id: 'u',
        role: 'user',
        content: [{ type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } }],
      },
    ])
  })
})
