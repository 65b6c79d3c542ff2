import type { Event } from '@google/adk'
import { describe, expect, test } from 'vitest'
import { brief } from '../../../test/support/brief.js'
import {
  adkEvent,
  chunkOf,
  responseOf,
  translateEvents,
  wholeOf,
} from '../../../test/support/adk/translate-events.js'

const call = (id: string, name = 'tool', args: Record<string, unknown> = {}) => ({
  functionCall: { id, name, args },
})

/** Which of the results a client got. */
function resultsOf(events: Event[], options = {}) {
  return translateEvents(events, options).messages.flatMap(({ role, toolCallId, content }) =>
    role === 'tool' ? [[toolCallId, content]] : [],
  )
}

describe('a call', () => {
  test('is sent whole, under the id that ADK has and the name that the client knows', () => {
    const { loose } = translateEvents(
      [wholeOf([{ ...call('c1', 'weather', { city: 'Oslo' }), thoughtSignature: 'signed' }])],
      { wireName: (name) => `my_${name}` },
    )
    expect(loose).toEqual([
      {
        type: 'TOOL_CALL_START',
        toolCallId: 'c1',
        toolCallName: 'my_weather',
        parentMessageId: 'message-1',
      },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{"city":"Oslo"}' },
      { type: 'TOOL_CALL_END', toolCallId: 'c1' },
      {
        type: 'REASONING_ENCRYPTED_VALUE',
        subtype: 'tool-call',
        entityId: 'c1',
        encryptedValue: 'signed',
      },
    ])
  })

  test('stands with others of its turn in one message, also when each came in an event of its own', () => {
    const { messages } = translateEvents([
      chunkOf('I look.'),
      wholeOf('I look.'),
      wholeOf([call('c1')]),
      wholeOf([call('c2'), call('c3')]),
    ])
    expect(messages).toMatchObject([
      { content: 'I look.', toolCalls: [{ id: 'c1' }, { id: 'c2' }, { id: 'c3' }] },
    ])
  })

  test('of an agent that others have spoken after stands in a message of its own, and it is known which', () => {
    const { messages, marks } = translateEvents(
      [
        wholeOf('B1.', { author: 'b' }),
        wholeOf('A2.', { author: 'a' }),
        wholeOf([call('c1')], { author: 'b' }),
      ],
      { isAgent: () => true },
    )
    expect(messages).toMatchObject([{ content: 'B1.' }, { content: 'A2.' }, { toolCalls: [{ id: 'c1' }] }])
    expect(marks.at(-1)?.callsIn).toBe(messages[2]?.id)
  })

  test('of the next turn stands in a message of its own', () => {
    const { messages } = translateEvents([
      wholeOf([{ text: 'First.' }, call('c1')]),
      responseOf('c1', {}),
      wholeOf([call('c2')]),
      responseOf('c2', {}),
      wholeOf('Done.', { finishReason: 'STOP' as never }),
      wholeOf([call('c3')]),
    ])
    const calls = messages.flatMap(({ toolCalls }) => (Array.isArray(toolCalls) ? [toolCalls.length] : []))
    expect(calls).toEqual([1, 1, 1])
    expect(messages.at(-2)).toMatchObject({ content: 'Done.' })
  })

  test('that comes twice is sent once', () => {
    const { loose, problems } = translateEvents([wholeOf([call('c1')]), wholeOf([call('c1'), call('c2')])])
    expect(loose.filter(({ type }) => type === 'TOOL_CALL_START')).toHaveLength(2)
    expect(problems).toEqual([])
  })

  test('in a piece is a preview: the whole answer has it', () => {
    const piece = adkEvent({
      partial: true,
      content: { role: 'model', parts: [call('c1', 'tool', { half: 1 })] },
    })
    const { batches } = translateEvents([piece, wholeOf([call('c1', 'tool', { all: 1 })])])
    expect(batches[0]).toEqual([])
    expect(batches[1]?.map(brief)).toContain('TOOL_CALL_ARGS c1 "{\\"all\\":1}"')
    expect(batches.at(-1)).toEqual([])
  })

  test('that waits for the client and never came whole is sent when the run ends', () => {
    const parts = [call('c1', 'pick'), call('c2', 'other')]
    const piece = adkEvent({ partial: true, longRunningToolIds: ['c1'], content: { role: 'model', parts } })
    const { batches, translator } = translateEvents([piece], { isClientTool: (name) => name === 'pick' })
    expect(batches.at(-1)?.map(brief)).toEqual([
      'TOOL_CALL_START c1',
      'TOOL_CALL_ARGS c1 "{}"',
      'TOOL_CALL_END c1',
    ])
    expect(batches.at(-1)?.[0]).toMatchObject({ toolCallId: 'c1', toolCallName: 'pick' })
    expect(translator.pendingCallIds).toEqual(['c1'])
  })

  test('in a piece that ADK ran is sent before its result', () => {
    const piece = adkEvent({ partial: true, content: { role: 'model', parts: [call('c1')] } })
    expect(resultsOf([piece, responseOf('c1', { ok: true })])).toEqual([['c1', '{"ok":true}']])
  })

  test('without an id gets one, and its arguments may be anything', () => {
    const circular: Record<string, unknown> = { big: 10n }
    circular.self = circular
    const { loose } = translateEvents([wholeOf([{ functionCall: { name: 'tool', args: circular } }])])
    expect(loose[1]).toEqual({
      type: 'TOOL_CALL_ARGS',
      toolCallId: 'call-1',
      delta: expect.stringContaining('contains itself') as string,
    })
  })

  test('of a client tool is pending until it has a result', () => {
    const options = { isClientTool: (name: string) => name.startsWith('client') }
    const calls = wholeOf([call('c1', 'client_a'), call('c2'), call('c3', 'client_b')])
    const ids = (events: Event[]) => translateEvents(events, options).translator.pendingCallIds
    expect(ids([calls])).toEqual(['c1', 'c3'])
    expect(ids([calls, responseOf('c1', { by: 'a callback' }, { name: 'client_a' })])).toEqual(['c3'])
  })
})

describe('a result', () => {
  const calls = wholeOf([call('c1')])

  test.each([
    ['a text that ADK has wrapped', { result: 'sunny' }, 'sunny'],
    ['an empty text', { result: '' }, ''],
    ['another value', { result: 21 }, '{"result":21}'],
    ['more than a text', { result: 'sunny', temp: 21 }, '{"result":"sunny","temp":21}'],
    ['an error', { error: 'no' }, '{"error":"no"}'],
  ])('with %s is told', (_name, response, content) => {
    expect(resultsOf([calls, responseOf('c1', response)])).toEqual([['c1', content]])
  })

  test('has an id made of the call, and comes once', () => {
    const { messages, problems } = translateEvents([
      calls,
      responseOf('c1', {}),
      responseOf('c1', { again: 1 }),
    ])
    expect(messages.at(-1)).toMatchObject({ id: 'result-c1', content: '{}' })
    expect(problems).toEqual([])
  })

  test('that the model is not to sum up is sent too', () => {
    const response = responseOf('c1', { result: 'raw' }, { actions: { skipSummarization: true } as never })
    expect(resultsOf([calls, response])).toEqual([['c1', 'raw']])
  })

  test('of a call of an earlier run is sent', () => {
    const messages = [
      {
        id: 'm',
        role: 'assistant',
        toolCalls: [{ id: 'old', type: 'function', function: { name: 'tool', arguments: '{}' } }],
      },
    ]
    expect(resultsOf([responseOf('old', { result: 'ran' })], { messages })).toEqual([['old', 'ran']])
  })

  test('of a client tool is in the thread already', () => {
    expect(translateEvents([responseOf('old', {})], { isClientTool: () => true }).loose).toEqual([])
  })

  test('of a tool that waits for a person is none yet', () => {
    const actions = { requestedAuthConfigs: { c1: {} } } as never
    expect(resultsOf([calls, responseOf('c1', { result: 'pending' }, { actions })])).toEqual([])
  })

  test('without an id is left out and reported', () => {
    const response = adkEvent({
      content: { role: 'user', parts: [{ functionResponse: { name: 't', response: {} } }] },
    })
    expect(translateEvents([response]).problems).toEqual([expect.stringContaining("tool 't' has no id")])
  })
})

describe('a question of ADK', () => {
  const asks = (fields: Partial<Event> = {}) =>
    wholeOf(
      [
        call('q1', 'adk_request_confirmation', {
          originalFunctionCall: { name: 'pay' },
          toolConfirmation: {},
        }),
      ],
      {
        longRunningToolIds: ['q1'],
        ...fields,
      },
    )

  test('is no tool call, and is kept once with its event', () => {
    const first = asks()
    const { loose, translator } = translateEvents([first, asks(), adkEvent({ longRunningToolIds: ['q1'] })])
    expect(loose).toEqual([])
    expect(translator.requests).toHaveLength(1)
    expect(translator.requests[0]).toMatchObject({
      request: { kind: 'confirmation', interruptId: 'q1', toolName: 'pay' },
      subagentRunId: undefined,
    })
    expect(translator.requests[0]?.event).toBe(first)
  })

  test('of a subagent leaves its span suspended', () => {
    const { loose, translator } = translateEvents([asks({ author: 'helper' })])
    const [started, finished] = loose
    expect(started).toMatchObject({ type: 'SUBAGENT_STARTED', name: 'helper' })
    expect(finished).toMatchObject({ type: 'SUBAGENT_FINISHED', outcome: { type: 'suspended' } })
    expect(translator.requests[0]?.subagentRunId).toMatch(/^sub-/)
  })

  test('has an answer that is no result', () => {
    expect(
      translateEvents([responseOf('q1', { confirmed: true }, { name: 'adk_request_confirmation' })]).loose,
    ).toEqual([])
  })
})
