import { AIMessage } from '@langchain/core/messages'
import { describe, expect, test } from 'vitest'
import { brief } from '../../../test/support/brief.js'
import {
  answer,
  callPiece,
  modelStart,
  translateEvents,
} from '../../../test/support/langgraph/translate-events.js'

type Pieces = Parameters<typeof answer>[0]

const block = (...content: Record<string, unknown>[]) => ({ content })
const beside = (additional_kwargs: Record<string, unknown>) => ({ content: '', additional_kwargs })

/** The reasoning that a client holds: id, text, seal. */
function thoughtsOf(pieces: Pieces) {
  const { messages, problems } = translateEvents(answer(pieces))
  expect(problems).toEqual([])
  return messages
    .filter(({ role }) => role === 'reasoning')
    .map(({ id, content, encryptedValue }) => [
      id,
      content,
      ...(encryptedValue === undefined ? [] : [encryptedValue]),
    ])
}

describe('reasoning', () => {
  test('of Anthropic has a message for each block, with its signature', () => {
    expect(
      thoughtsOf([
        block({ type: 'thinking', thinking: '', signature: '', index: 0 }),
        block({ type: 'thinking', thinking: 'I ', index: 0 }),
        block({ type: 'thinking', thinking: 'think', index: 0 }),
        block({ type: 'thinking', signature: 'sig-0', index: 0 }),
        block({ type: 'redacted_thinking', data: 'hidden', index: 1 }),
        block({ type: 'thinking', thinking: 'more', index: 2 }),
        block({ type: 'thinking', signature: 'sig-2', index: 2 }),
        block({ type: 'text', text: 'Hi', index: 3 }),
      ]),
    ).toEqual([
      ['run-m:reasoning', 'I think', 'sig-0'],
      ['run-m:reasoning:2', '', 'hidden'],
      ['run-m:reasoning:3', 'more', 'sig-2'],
    ])
  })

  test('that is signed without a word has a message for each block, too', () => {
    expect(
      thoughtsOf([
        block({ type: 'thinking', signature: 'a', index: 0 }),
        block({ type: 'thinking', signature: 'b', index: 1 }),
      ]),
    ).toEqual([
      ['run-m:reasoning', '', 'a'],
      ['run-m:reasoning:2', '', 'b'],
    ])
  })

  test('of the Responses API has the id of OpenAI, which comes before the text, and is told once', () => {
    const summary = (text: string, index: number) => ({
      content: [{ type: 'reasoning', reasoning: text, index }],
      additional_kwargs: {
        reasoning: { type: 'reasoning', summary: [{ type: 'summary_text', text, index }] },
      },
    })
    expect(
      thoughtsOf([
        beside({ reasoning: { id: 'rs_1', type: 'reasoning', summary: [] } }),
        summary('One', 0),
        summary(' more.', 0),
        summary('Two.', 1),
        beside({ reasoning: { encrypted_content: 'enc-1' } }),
        beside({ reasoning: { id: 'rs_2', type: 'reasoning', summary: [] } }),
        beside({ reasoning: { encrypted_content: 'enc-2' } }),
        block({ type: 'text', text: 'Hi', index: 0 }),
      ]),
    ).toEqual([
      ['rs_1', 'One more.\n\nTwo.', 'enc-1'],
      ['rs_2', '', 'enc-2'],
    ])
  })

  test('of older clients of OpenAI stands only beside the content', () => {
    const part = (text: string) =>
      beside({ reasoning: { id: 'rs_1', summary: [{ type: 'summary_text', text, index: 0 }] } })
    expect(thoughtsOf([part('a'), part('b'), 'Hi'])).toEqual([['rs_1', 'ab']])
  })

  test.each<[string, Pieces]>([
    ['DeepSeek', [beside({ reasoning_content: 'a' }), beside({ reasoning_content: 'b' })]],
    ['OpenRouter', [beside({ reasoning: 'a' }), beside({ reasoning: 'b' })]],
    [
      'LangChain',
      [block({ type: 'reasoning', reasoning: 'a' }), block({ type: 'reasoning', reasoning: 'b' })],
    ],
    ['Gemini', [block({ type: 'thinking', thinking: 'a' }), block({ type: 'thinking', thinking: 'b' })]],
    [
      'Bedrock',
      [
        block({ type: 'reasoning_content', reasoningText: { text: 'a' } }),
        block({ type: 'reasoning_content', reasoning_content: { text: 'b' } }),
      ],
    ],
    [
      'open weights behind the Responses API',
      [block({ type: 'reasoning', content: [{ type: 'reasoning_text', text: 'ab' }] })],
    ],
  ])('of %s is told', (_provider, pieces) => {
    expect(thoughtsOf([...pieces, 'Hi'])).toEqual([['run-m:reasoning', 'ab']])
  })

  test('of Bedrock that nobody may read is kept as its bytes', () => {
    const redactedContent = new Uint8Array([1, 2, 3])
    expect(thoughtsOf([block({ type: 'reasoning_content', redactedContent })])).toEqual([
      ['run-m:reasoning', '', 'AQID'],
    ])
  })

  test('ends before text or a call begins, and goes on in a message of its own', () => {
    const { loose } = translateEvents(
      answer([
        beside({ reasoning_content: 'one' }),
        'Hi',
        beside({ reasoning_content: 'two' }),
        callPiece({ id: 'c1', name: 'a', args: '{}', index: 0 }),
      ]),
    )
    expect(loose.map(brief)).toEqual([
      'REASONING_MESSAGE_START run-m:reasoning',
      'REASONING_MESSAGE_CONTENT run-m:reasoning "one"',
      'REASONING_MESSAGE_END run-m:reasoning',
      'TEXT_MESSAGE_START run-m',
      'TEXT_MESSAGE_CONTENT run-m "Hi"',
      'REASONING_MESSAGE_START run-m:reasoning:2',
      'REASONING_MESSAGE_CONTENT run-m:reasoning:2 "two"',
      'REASONING_MESSAGE_END run-m:reasoning:2',
      'TOOL_CALL_START c1',
      'TOOL_CALL_ARGS c1 "{}"',
      'TEXT_MESSAGE_END run-m',
      'TOOL_CALL_END c1',
    ])
  })

  test('of an answer that was not streamed comes before its text', () => {
    const message = new AIMessage({
      id: 'm1',
      content: [
        { type: 'thinking', thinking: 'Hm', signature: 'sig' },
        { type: 'text', text: 'Hi' },
      ],
    })
    const { messages } = translateEvents([modelStart(), { type: 'model-end', runId: 'm', message }])
    expect(messages).toMatchObject([
      { id: 'm1:reasoning', content: 'Hm', encryptedValue: 'sig' },
      { id: 'm1', content: 'Hi' },
    ])
  })
})
