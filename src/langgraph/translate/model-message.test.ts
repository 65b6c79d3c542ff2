import { AIMessage, AIMessageChunk } from '@langchain/core/messages'
import { describe, expect, test } from 'vitest'
import { rejectedIn } from '../../../test/support/run-agent.js'
import { brief } from '../../../test/support/brief.js'
import {
  modelRun,
  callChunk,
  failed,
  modelEnd,
  modelStart,
  nodeEnd,
  nodeStart,
  modelChunk,
  translateEvents,
} from '../../../test/support/langgraph/translate-events.js'

describe('text', () => {
  test('is streamed under the id that the message has in the state, chunk by chunk', () => {
    const { batches, problems } = translateEvents(modelRun(['Hel', '', 'lo']))
    expect(batches.map((batch) => batch.map(brief))).toEqual([
      [],
      ['TEXT_MESSAGE_START run-m', 'TEXT_MESSAGE_CHUNK run-m "Hel"'],
      [],
      ['TEXT_MESSAGE_CHUNK run-m "lo"'],
      ['TEXT_MESSAGE_END run-m'],
    ])
    expect(problems).toEqual([])
  })

  test('keeps the id of the first piece, and what the whole is called later is known', () => {
    const { messages, translator } = translateEvents([
      modelStart(),
      modelChunk({ content: 'a', id: 'msg-1' }),
      modelChunk({ content: 'b', id: 'msg-2' }),
      { type: 'model-end', runId: 'm', message: new AIMessage({ content: 'ab', id: 'msg-9' }) },
      { type: 'values', values: { messages: [] } },
      { type: 'values', values: { messages: [new AIMessage({ content: 'ab', id: 'msg-9' })] } },
    ])
    expect(messages).toMatchObject([{ id: 'msg-1', content: 'ab' }])
    expect([...translator.shownMessages]).toEqual(['msg-1', 'msg-9'])
  })

  test('on the piece with the reason to finish is kept', () => {
    const last = { content: ' world', response_metadata: { finish_reason: 'stop' } }
    expect(translateEvents(modelRun(['hello', last])).messages).toMatchObject([{ content: 'hello world' }])
  })

  test('in blocks is text too', () => {
    const blocks = (text: string) => ({ content: [{ type: 'text', text, index: 0 }] })
    expect(translateEvents(modelRun([blocks('a'), blocks(''), blocks('b')])).messages).toMatchObject([
      { content: 'ab' },
    ])
  })

  test.each<[string, object, object]>([
    [
      'LangChain',
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } },
    ],
    [
      'OpenAI',
      { type: 'image_url', image_url: { url: 'https://pictures/1.png' } },
      { type: 'image', source: { type: 'url', value: 'https://pictures/1.png' } },
    ],
    [
      'Gemini',
      { type: 'inlineData', inlineData: { mimeType: 'audio/wav', data: 'AAAA' } },
      { type: 'audio', source: { type: 'data', value: 'AAAA', mimeType: 'audio/wav' } },
    ],
    [
      'files',
      { type: 'file', url: 'https://files/1.pdf' },
      { type: 'document', source: { type: 'url', value: 'https://files/1.pdf' } },
    ],
  ])('may have a picture beside it, in the words of %s, which is told once', (_, block, part) => {
    const content = [block as { type: string }]
    const whole = new AIMessage({ id: 'run-m', content: [{ type: 'text', text: 'Look:' }, ...content] })
    for (const pieces of [['Look:', { content }], []]) {
      const events = [
        modelStart(),
        ...pieces.map((one) => modelChunk(one)),
        { type: 'model-end', runId: 'm', message: whole },
      ]
      const { batches, messages } = translateEvents(events as never)
      expect(batches.flat().filter(({ type }) => type === 'CUSTOM')).toEqual([
        { type: 'CUSTOM', name: 'langgraph.media', value: { messageId: 'run-m', part } },
      ])
      expect(messages).toMatchObject([{ content: 'Look:' }])
    }
  })

  test('of an answer that was not streamed comes as a whole, and not again when it was', () => {
    const message = new AIMessage({ id: 'm1', content: 'All of it' })
    const { messages } = translateEvents([modelStart(), { type: 'model-end', runId: 'm', message }])
    expect(messages).toMatchObject([{ id: 'm1', content: 'All of it' }])
    expect(translateEvents(modelRun(['once'])).messages).toMatchObject([{ content: 'once' }])
  })

  test('may be missing altogether', () => {
    const odd = modelChunk({ content: undefined as never })
    expect(translateEvents([modelStart(), odd, ...modelRun(['Hi'], 'm2')]).messages).toMatchObject([
      { content: 'Hi' },
    ])
  })

  test('of a model that was never announced is shown', () => {
    const { messages } = translateEvents([modelChunk('a'), modelChunk('b')])
    expect(messages).toMatchObject([{ id: 'run-m', content: 'ab' }])
  })

  test('of a hidden model is not shown, but what it used is counted', () => {
    const usage_metadata = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
    const pieces = [modelChunk('secret'), modelChunk({ content: '', usage_metadata })]
    const { loose, usage } = translateEvents([
      modelStart('m', { isHidden: true, provider: 'openai', model: 'gpt' }),
      ...pieces,
      modelEnd(pieces),
    ])
    expect(loose).toEqual([])
    expect(usage).toEqual([
      { provider: 'openai', model: 'gpt', inputTokens: 3, outputTokens: 2, totalTokens: 5 },
    ])
  })
})

describe('an answer that breaks off', () => {
  const broken = [
    nodeStart('n'),
    modelStart(),
    modelChunk({ content: [{ type: 'thinking', thinking: 'Hm' }] }),
    modelChunk('Half'),
    modelChunk(callChunk({ id: 'c1', name: 'search', args: '{"q', index: 0 })),
    failed('model', 'm'),
  ]

  test('is left incomplete, except that nobody may execute its calls', () => {
    const { batches } = translateEvents(broken)
    expect(batches[5]?.map(brief)).toEqual(['TOOL_CALL_END c1'])
  })

  test('stays as it is when the run ends with it', () => {
    const { messages } = translateEvents(broken)
    expect(messages.filter(({ metadata }) => metadata)).toEqual([])
  })

  test('is rejected when the model is called again, and a new message follows', () => {
    const { messages, stream, translator } = translateEvents([...broken, ...modelRun(['Whole'], 'm2')], {
      isClientTool: () => true,
    })
    const metadata = { millrace: { rejected: 'error' } }
    expect(rejectedIn(stream)).toMatchObject([
      { role: 'reasoning', metadata },
      { id: 'run-m', content: 'Half', metadata },
      { role: 'tool', toolCallId: 'c1', metadata },
    ])
    expect(messages).toMatchObject([{ id: 'run-m2', content: 'Whole' }])
    expect(translator.pendingCallIds).toEqual([])
  })

  test('is taken back when the node does without', () => {
    const { messages, stream } = translateEvents([...broken, nodeEnd('n')])
    expect(rejectedIn(stream)[1]).toMatchObject({
      content: 'Half',
      metadata: { millrace: { rejected: 'error' } },
    })
    expect(messages).toEqual([])
  })

  test('because somebody stopped it is nothing to take back', () => {
    const aborted = failed('model', 'm', Object.assign(new Error(), { name: 'AbortError' }))
    const { messages } = translateEvents([
      modelStart(),
      modelChunk('Half'),
      aborted,
      ...modelRun(['x'], 'm2'),
    ])
    expect(messages.filter(({ metadata }) => metadata)).toEqual([])
  })
})

describe('calls', () => {
  const callsOf = (pieces: Parameters<typeof modelRun>[0]) =>
    translateEvents(modelRun(pieces)).messages.flatMap(({ toolCalls = [] }) =>
      (toolCalls as { id: string; function: { name: string; arguments: string } }[]).map(
        ({ id, function: { name, arguments: args } }) => [id, name, args],
      ),
    )

  test('stand in the message of the model, with all their arguments', () => {
    const { stream, messages } = translateEvents(
      modelRun([
        'Let me see',
        callChunk({ id: 'c1', name: 'search', args: '', index: 0 }),
        callChunk({ args: '{"q":', index: 0 }),
        callChunk({ args: '"a"}', index: 0 }),
      ]),
    )
    expect(messages).toMatchObject([
      { id: 'run-m', content: 'Let me see', toolCalls: [{ id: 'c1', function: { arguments: '{"q":"a"}' } }] },
    ])
    expect(stream.map(brief).slice(4, 7)).toEqual([
      'TOOL_CALL_START c1',
      'TOOL_CALL_ARGS c1 "{\\"q\\":"',
      'TOOL_CALL_ARGS c1 "\\"a\\"}"',
    ])
  })

  test('that are written at the same time stay apart', () => {
    expect(
      callsOf([
        {
          content: '',
          tool_call_chunks: [
            { id: 'c1', name: 'a', args: '{', index: 0, type: 'tool_call_chunk' },
            { id: 'c2', name: 'b', args: '{"x"', index: 1, type: 'tool_call_chunk' },
          ],
        },
        callChunk({ args: ':1}', index: 1 }),
        callChunk({ args: '}', index: 0 }),
      ]),
    ).toEqual([
      ['c1', 'a', '{}'],
      ['c2', 'b', '{"x":1}'],
    ])
  })

  test('may repeat id and name with every piece', () => {
    expect(
      callsOf([
        callChunk({ id: 'c1', name: 'a', args: '{"x"' }),
        callChunk({ id: 'c1', name: 'a', args: ':1}' }),
        callChunk({ id: 'c2', name: 'a', args: '{}' }),
      ]),
    ).toEqual([
      ['c1', 'a', '{"x":1}'],
      ['c2', 'a', '{}'],
    ])
  })

  test('that come whole may all have the same number', () => {
    expect(
      callsOf([
        callChunk({ id: 'c1', name: 'a', args: '{"x":1}', index: 0 }),
        callChunk({ id: 'c2', name: 'b', args: '{"y":2}', index: 0 }),
      ]),
    ).toEqual([
      ['c1', 'a', '{"x":1}'],
      ['c2', 'b', '{"y":2}'],
    ])
  })

  test('without number and id get ids of their own', () => {
    expect(
      callsOf([
        callChunk({ name: 'a', args: '{"x"' }),
        callChunk({ args: ':1}' }),
        callChunk({ name: 'a', args: '{"x":2}' }),
        callChunk({ name: 'b' }),
      ]),
    ).toEqual([
      ['run-m:tc0', 'a', '{"x":1}'],
      ['run-m:tc1', 'a', '{"x":2}'],
      ['run-m:tc2', 'b', '{}'],
    ])
  })

  test('wait for their names', () => {
    expect(
      callsOf([
        callChunk({ id: 'c1', args: '{"x"', index: 0 }),
        callChunk({ name: 'a', args: ':1}', index: 0 }),
      ]),
    ).toEqual([['c1', 'a', '{"x":1}']])
  })

  test('only in the whole answer are sent then, and those that were streamed are not sent again', () => {
    const tool_calls = [
      { id: 'c1', name: 'a', args: { x: 1 } },
      { id: 'c2', name: 'b', args: { y: 2 } },
    ]
    const { messages, problems } = translateEvents([
      modelStart(),
      modelChunk(callChunk({ id: 'c1', name: 'a', args: '{"x":1}', index: 0 })),
      {
        type: 'model-end',
        runId: 'm',
        message: new AIMessageChunk({ content: '', id: 'run-m', tool_calls }),
      },
    ])
    expect(messages).toMatchObject([{ id: 'run-m', toolCalls: [{ id: 'c1' }, { id: 'c2' }] }])
    expect(problems).toEqual([])
  })

  test('whose ids come late are answered under the ids they were sent with', () => {
    const message = new AIMessage({
      content: '',
      id: 'run-m',
      tool_calls: [{ id: 'late', name: 'a', args: {} }],
    })
    const { messages } = translateEvents([
      modelStart(),
      modelChunk(callChunk({ name: 'a', args: '{}' })),
      { type: 'model-end', runId: 'm', message },
      {
        type: 'tool-start',
        runId: 't',
        parentRunId: undefined,
        name: 'a',
        input: '{}',
        toolCallId: 'late',
        ns: '',
      },
      { type: 'tool-end', runId: 't', output: 'done' },
    ])
    expect(messages).toMatchObject([
      { toolCalls: [{ id: 'run-m:tc0' }] },
      { toolCallId: 'run-m:tc0', content: 'done' },
    ])
  })

  test('of a thread that has the id already are left out, and reported', () => {
    const toolCalls = [{ id: 'c1', type: 'function' as const, function: { name: 'a', arguments: '{}' } }]
    const { loose, problems } = translateEvents(
      modelRun([callChunk({ id: 'c1', name: 'a', args: '{}', index: 0 })]),
      { messages: [{ id: 'old', role: 'assistant', toolCalls }] },
    )
    expect(loose).toEqual([])
    expect(problems).toEqual(["tool call 'c1' has the id of an earlier one; it was left out"])
  })

  test('carry the signatures of Gemini', () => {
    const additional_kwargs = { __gemini_function_call_thought_signatures__: { c1: 'sig' } }
    const { loose } = translateEvents(
      modelRun([{ ...callChunk({ id: 'c1', name: 'a', args: '{}', index: 0 }), additional_kwargs }]),
    )
    expect(loose.filter(({ type }) => type === 'REASONING_ENCRYPTED_VALUE')).toEqual([
      { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'tool-call', entityId: 'c1', encryptedValue: 'sig' },
    ])
  })
})

describe('usage', () => {
  test('is counted once for each model, from the whole answer', () => {
    const pieces = [
      modelChunk({ content: 'a', usage_metadata: { input_tokens: 10, output_tokens: 0, total_tokens: 10 } }),
      modelChunk({
        content: '',
        usage_metadata: {
          input_tokens: 0,
          output_tokens: 4,
          total_tokens: 4,
          output_token_details: { reasoning: 3 },
        },
        response_metadata: { model_name: 'claude', model_provider: 'anthropic' },
      }),
    ]
    expect(translateEvents([modelStart(), ...pieces, modelEnd(pieces)]).usage).toEqual([
      {
        provider: 'anthropic',
        model: 'claude',
        inputTokens: 10,
        outputTokens: 4,
        totalTokens: 14,
        reasoningTokens: 3,
      },
    ])
  })

  test('of what broke off, or never ended, is counted as far as it is known', () => {
    const usage_metadata = { input_tokens: 7, output_tokens: 1, total_tokens: 8 }
    const events = [modelStart(), modelChunk({ content: 'a', usage_metadata })]
    const counted = [{ inputTokens: 7, outputTokens: 1, totalTokens: 8 }]
    expect(translateEvents(events).usage).toEqual(counted)
    expect(translateEvents([...events, failed('model', 'm')]).usage).toEqual(counted)
  })
})

type Pieces = Parameters<typeof modelRun>[0]

const block = (...content: Record<string, unknown>[]) => ({ content })
const beside = (additional_kwargs: Record<string, unknown>) => ({ content: '', additional_kwargs })

/** The reasoning that a client holds: id, text, encrypted value. */
function thoughtsOf(pieces: Pieces) {
  const { messages, problems } = translateEvents(modelRun(pieces))
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

  test('of the Responses API has the id of OpenAI, which comes before the text, and is written once', () => {
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
      modelRun([
        beside({ reasoning_content: 'one' }),
        'Hi',
        beside({ reasoning_content: 'two' }),
        callChunk({ id: 'c1', name: 'a', args: '{}', index: 0 }),
      ]),
    )
    expect(loose.map(brief)).toEqual([
      'REASONING_MESSAGE_START run-m:reasoning',
      'REASONING_MESSAGE_CHUNK run-m:reasoning "one"',
      'REASONING_MESSAGE_END run-m:reasoning',
      'TEXT_MESSAGE_START run-m',
      'TEXT_MESSAGE_CHUNK run-m "Hi"',
      'TEXT_MESSAGE_END run-m',
      'REASONING_MESSAGE_START run-m:reasoning:2',
      'REASONING_MESSAGE_CHUNK run-m:reasoning:2 "two"',
      'REASONING_MESSAGE_END run-m:reasoning:2',
      'TOOL_CALL_START c1',
      'TOOL_CALL_ARGS c1 "{}"',
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
