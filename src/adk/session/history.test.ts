import type { AssistantMessage, ContentPart, ToolMessage, UserMessage } from '@ag-ui/core'
import { createEvent, type Event } from '@google/adk'
import { describe, expect, it } from 'vitest'
import { sequentialIds } from '../../core/ids.js'
import type { Part } from '../adk-types.js'
import { type EventMark, callRunId, iterationsAtCalls, withCallAuthors, withCallOrigin } from './marks.js'
import { sessionMessages } from './history.js'
import { importMessages, newEvent, toResultPart, toUserParts, type Import } from './import-messages.js'
import { findUnanswered } from './session-memory.js'
import { sharedSessionState } from './session-state.js'

/** An event of another writer, or of ours when it has a mark. */
function event(id: string, author: string, parts: readonly Part[], mark?: EventMark): Event {
  const content = { role: 'any', parts: [...parts] }
  const made = newEvent({ newId: () => id }, { invocationId: `i-${id}`, author, content, mark: mark ?? {} })
  return mark ? made : { ...made, customMetadata: {} }
}

const root = { rootAuthor: 'root' }
const call = (id: string, name = 'look'): Part => ({ functionCall: { id, name, args: { a: 1 } } })

describe('the messages of a session of another writer', () => {
  it('have ids made of those of the events, the same at every reading', () => {
    const events = [
      event('e1', 'user', [{ text: 'Hi' }]),
      event('e2', 'root', [
        { text: 'Hmm', thought: true, thoughtSignature: 'c2ln' },
        { text: 'Let ' },
        { text: 'me see.' },
        call('c1'),
      ]),
      event('e3', 'root', [{ functionResponse: { id: 'c1', name: 'look', response: { found: [1] } } }]),
      event('e4', 'helper', [{ text: 'Done' }]),
    ]
    const toolCalls = [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }]
    const messages = [
      { id: 'e1', role: 'user', content: 'Hi' },
      { id: 'e2-reasoning', role: 'reasoning', content: 'Hmm', encryptedValue: 'c2ln' },
      { id: 'e2', role: 'assistant', content: 'Let me see.', toolCalls },
      { id: 'e3-c1', role: 'tool', toolCallId: 'c1', content: '{"found":[1]}' },
      { id: 'e4', role: 'assistant', name: 'helper', content: 'Done' },
    ]
    expect(sessionMessages(events, root)).toEqual(messages)
    expect(sessionMessages(structuredClone(events), root)).toEqual(messages)
  })

  it('keep attachments', () => {
    const parts: Part[] = [
      { text: 'See' },
      { inlineData: { data: 'AAAA', mimeType: 'image/png', displayName: 'a.png' } },
      { fileData: { fileUri: 'gs://b/c.pdf', mimeType: 'application/pdf' } },
      { fileData: { fileUri: 'https://d/e' } },
    ]
    expect(sessionMessages([event('e', 'user', parts)])).toEqual([
      {
        id: 'e',
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          {
            type: 'image',
            source: { type: 'data', value: 'AAAA', mimeType: 'image/png' },
            metadata: { filename: 'a.png' },
          },
          { type: 'document', source: { type: 'url', value: 'gs://b/c.pdf', mimeType: 'application/pdf' } },
          { type: 'document', source: { type: 'url', value: 'https://d/e' } },
        ],
      },
    ])
  })

  it('include results that a user gave, as text where they are text', () => {
    const responses = [
      { result: 'red' },
      { error: 'none left' },
      { result: 'a', more: 1 },
      { result: { b: 1 } },
    ]
    const parts = responses.map((response, n) => ({
      functionResponse: { id: `c${n}`, name: 'pick', response },
    }))
    expect(sessionMessages([event('e', 'user', [...parts, { text: 'There' }])])).toEqual([
      { id: 'e', role: 'user', content: 'There' },
      { id: 'e-c0', role: 'tool', toolCallId: 'c0', content: 'red' },
      { id: 'e-c1', role: 'tool', toolCallId: 'c1', content: 'none left', error: 'none left' },
      { id: 'e-c2', role: 'tool', toolCallId: 'c2', content: '{"result":"a","more":1}' },
      { id: 'e-c3', role: 'tool', toolCallId: 'c3', content: '{"result":{"b":1}}' },
    ])
  })

  it('are not what is partial, empty, a question of ADK, or a summary', () => {
    const question = { functionCall: { id: 'q', name: 'adk_request_credential', args: { secret: 's' } } }
    const answer = {
      functionResponse: { id: 'q', name: 'adk_request_credential', response: { secret: 's' } },
    }
    const events = [
      { ...event('e1', 'root', [{ text: 'Hal' }]), partial: true },
      { ...event('e2', 'root', []), errorCode: '503' },
      event('e3', 'root', [question]),
      event('e4', 'user', [answer]),
      { ...event('e5', 'system', [{ text: 'All of it' }]), isCompacted: true },
      event('e6', 'root', [{ text: '' }]),
    ]
    expect(sessionMessages(events)).toEqual([])
  })

  it('have the names of tools that clients know', () => {
    const [message] = sessionMessages([event('e', 'root', [call('c', 'app_look')])], {
      toWireName: (name) => name.slice(4),
    })
    expect(message).toMatchObject({ id: 'c', toolCalls: [{ function: { name: 'look' } }] })
  })
})

describe('the messages of a session of ours', () => {
  it('have the ids that clients know', () => {
    const events = [
      event(
        'e1',
        'user',
        [
          { text: 'a' },
          { text: 'b' },
          { inlineData: { data: 'AAAA', mimeType: 'audio/wav' } },
          { text: '[late]' },
        ],
        {
          messageIds: ['u1', 'u2'],
          partCounts: [1, 2],
        },
      ),
      event('e2', 'root', [{ text: 'Hm', thought: true }, { text: 'one' }, call('c1'), { text: 'two' }], {
        messageIds: ['m1', 'm2'],
        reasoningIds: ['t1'],
      }),
      event('e3', 'root', [call('c2'), call('c3')], { runId: 'r' }),
    ]
    expect(sessionMessages(events, root)).toMatchObject([
      { id: 'u1', content: 'a' },
      { id: 'u2', content: [{ type: 'text', text: 'b' }, { type: 'audio' }] },
      { id: 't1', role: 'reasoning' },
      { id: 'm1', content: 'one', toolCalls: [{ id: 'c1' }] },
      { id: 'm2', content: 'two' },
      { id: 'c2', toolCalls: [{ id: 'c2' }, { id: 'c3' }] },
    ])
  })

  it('are not what no client was shown, nor what was cut off', () => {
    const events = [
      event('e1', 'root', [{ text: '{"structured":1}' }, { text: 'why', thought: true }], { runId: 'r' }),
      event('e2', 'user', [{ text: 'Old' }], { messageIds: ['u1'] }),
      event('e3', 'user', [], { cut: ['e2'] }),
    ]
    expect(sessionMessages(events)).toEqual([])
  })
})

it('shows the state of the conversation alone', () => {
  const state = {
    a: 1,
    gone: null,
    undone: undefined,
    'app:a': 1,
    'user:a': 1,
    'temp:a': 1,
    millrace_thread_id: 't',
  }
  expect(sharedSessionState({ state })).toEqual({ a: 1 })
})

describe('interrupts and calls without an answer', () => {
  const message = (text: string): Event =>
    createEvent({ author: 'user', invocationId: text, content: { role: 'user', parts: [{ text }] } })
  const waits = (...parts: Part[]): Event =>
    createEvent({
      author: 'helper',
      invocationId: 'i',
      content: { role: 'model', parts },
      longRunningToolIds: parts.flatMap(({ functionCall }) => functionCall?.id ?? []),
    })
  const answers = (...ids: string[]): Event =>
    createEvent({
      author: 'user',
      invocationId: 'j',
      content: {
        role: 'user',
        parts: ids.map((id) => ({ functionResponse: { id, name: 'x', response: {} } })),
      },
    })
  const pick = { functionCall: { id: 'c1', name: 'pick', args: {} } }
  const confirm = {
    functionCall: {
      id: 'q1',
      name: 'adk_request_confirmation',
      args: { originalFunctionCall: { id: 'c2', name: 'remove', args: {} }, toolConfirmation: {} },
    },
  }

  const open = (events: readonly Event[]) => {
    const { interrupts, callIds } = findUnanswered(events)
    return [interrupts.map(({ functionCallId }) => functionCallId), callIds]
  }

  it('a session waits for answers and for results that nobody has given', () => {
    const asked = [message('Go'), waits(pick), waits(confirm)]
    expect(open(asked)).toEqual([['q1'], ['c1']])
    expect(open([...asked, answers('c1')])).toEqual([['q1'], []])
    expect(open([...asked, answers('c1', 'q1')])).toEqual([[], []])
  })

  it('a session waits for nothing when the user has gone on', () => {
    expect(open([message('Go'), waits(pick), waits(confirm), message('Never mind')])).toEqual([[], []])
  })
})

describe('messages that a session lacks', () => {
  const options = { rootAuthor: 'root', toModelName: (name: string) => name, newId: sequentialIds() }
  const user = (content: UserMessage['content']): UserMessage => ({ id: 'u', role: 'user', content })

  describe('what a user has sent', () => {
    it('is given to the model with its attachments', () => {
      const content: ContentPart[] = [
        { type: 'text', text: 'Look' },
        { type: 'text', text: '' },
        {
          type: 'image',
          source: { type: 'data', value: 'AAAA', mimeType: 'image/png' },
          metadata: { filename: 'a.png' },
        },
        { type: 'video', source: { type: 'url', value: 'https://x/v', mimeType: 'video/mp4' } },
        { type: 'document', source: { type: 'url', value: 'https://x/d' } },
        { type: 'audio', source: { type: 'file', value: 'files/1', provider: 'google' } },
      ]
      expect(toUserParts(user(content))).toEqual({
        parts: [
          { text: 'Look' },
          { inlineData: { data: 'AAAA', mimeType: 'image/png', displayName: 'a.png' } },
          { fileData: { fileUri: 'https://x/v', mimeType: 'video/mp4' } },
          { fileData: { fileUri: 'https://x/d' } },
          { fileData: { fileUri: 'files/1' } },
        ],
        problems: [],
      })
    })

    it.each<[string, ContentPart]>([
      ['no base64', { type: 'image', source: { type: 'data', value: 'not base64!', mimeType: 'image/png' } }],
      [
        'with another provider',
        { type: 'image', source: { type: 'file', value: 'file-1', provider: 'openai' } },
      ],
      ['nowhere', { type: 'image', source: { type: 'url', value: '' } }],
    ])('says so where an attachment is %s', (_, part) => {
      expect(toUserParts(user([part]))).toEqual({
        parts: [{ text: '[An attachment of type image could not be read.]' }],
        problems: ["message 'u': the image cannot be given to the model"],
      })
    })
  })

  describe('what a tool has returned', () => {
    const result = (
      content: ToolMessage['content'],
      more: Partial<ToolMessage> = {},
    ): Record<string, unknown> =>
      toResultPart({ name: 't', message: { id: 'r', role: 'tool', toolCallId: 'c', content, ...more } })
        .functionResponse?.response ?? {}

    it.each([
      ['{"a":1}', { a: 1 }],
      [' {"a":1}', { a: 1 }],
      ['[1]', { result: '[1]' }],
      ['red', { result: 'red' }],
      ['{broken', { result: '{broken' }],
      ['', { result: '' }],
      ['null', { result: 'null' }],
    ])('as %j is an object for the model', (content, response) => {
      expect(result(content)).toEqual(response)
    })

    it('is an error when it is one', () => {
      expect(result('', { error: 'denied' })).toEqual({ error: 'denied' })
      expect(result('half', { error: 'denied' })).toEqual({ error: 'denied', result: 'half' })
      expect(result('denied', { metadata: { millrace: { isError: true } } })).toEqual({ error: 'denied' })
    })

    it('is text where it has parts', () => {
      const image: ContentPart = { type: 'image', source: { type: 'url', value: 'x' } }
      expect(result([{ type: 'text', text: 'A' }, image])).toEqual({ result: 'A\n[image]' })
    })
  })

  describe('an answer of an agent', () => {
    const message: AssistantMessage = {
      id: 'a',
      role: 'assistant',
      content: 'Hi',
      encryptedValue: 'c2lnMQ==',
      toolCalls: [
        {
          id: 'c1',
          type: 'function',
          function: { name: 'look', arguments: '{"a":1}' },
          encryptedValue: 'c2lnMg==',
        },
        {
          id: 'c2',
          type: 'function',
          function: { name: 'look', arguments: '{bro' },
          encryptedValue: '{"openai":{}}',
        },
      ],
    }
    const item = (content: string, encryptedValue?: string): Import => ({
      role: 'assistant',
      message,
      reasoning: {
        id: 't',
        role: 'reasoning',
        content,
        ...(encryptedValue === undefined ? {} : { encryptedValue }),
      },
      hasText: true,
      calls: message.toolCalls ?? [],
    })

    it('keeps the signatures that Gemini wants back, and no others', () => {
      const [event] = importMessages([item('Hm', 'c2lnMw==')], options).events
      expect(event).toMatchObject({ author: 'root', content: { role: 'model' } })
      expect(event?.content?.parts).toEqual([
        { text: 'Hm', thought: true, thoughtSignature: 'c2lnMw==' },
        { text: 'Hi', thoughtSignature: 'c2lnMQ==' },
        { functionCall: { id: 'c1', name: 'look', args: { a: 1 } }, thoughtSignature: 'c2lnMg==' },
        { functionCall: { id: 'c2', name: 'look', args: {} } },
      ])
    })

    it('leaves thoughts behind that nobody signed', () => {
      const [event] = importMessages([item('Hm')], options).events
      expect(event?.content?.parts?.some(({ thought }) => thought)).toBe(false)
    })
  })

  it('gives what follows a user message the invocation of that message', () => {
    const said: Import = { role: 'user', message: user('Hi') }
    const answer: Import = {
      role: 'assistant',
      message: { id: 'a', role: 'assistant', content: 'A' },
      reasoning: undefined,
      hasText: true,
      calls: [],
    }
    const { events } = importMessages([said, answer, said, answer], options)
    const [a, b, c, d] = events.map(({ invocationId }) => invocationId)
    expect([a === b, c === d, a === c]).toEqual([true, true, false])
  })

  describe('the origin of a call', () => {
    const place = { runId: 'r1', author: 'b', iterations: { rounds: 2 } }

    function called(metadata: Record<string, unknown> | undefined): AssistantMessage {
      const call = { id: 'c1', type: 'function' as const, function: { name: 'pick', arguments: '{}' } }
      return { id: 'm1', role: 'assistant', toolCalls: [{ ...call, ...(metadata ? { metadata } : {}) }] }
    }

    describe('the place of a call', () => {
      it('is noted where the call begins, and nowhere else', () => {
        const start = { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'pick' } as const
        expect(withCallOrigin({ ...start, metadata: { own: 1 } }, place)).toEqual({
          ...start,
          metadata: { own: 1, adk: place },
        })
        const end = { type: 'TOOL_CALL_END', toolCallId: 'c1' } as const
        expect(withCallOrigin(end, place)).toBe(end)
      })

      it('names who made the call, and says in which round', () => {
        const messages = [called({ adk: place })]
        expect(withCallAuthors(messages)).toMatchObject([{ id: 'm1', name: 'b' }])
        expect(iterationsAtCalls(messages, new Set(['c1']))).toEqual({ rounds: 2 })
        expect(iterationsAtCalls(messages, new Set(['c2']))).toEqual({})
        expect(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(callRunId))).toEqual(['r1'])
      })

      it.each([undefined, {}, { adk: 'x' }, { adk: { author: 1, runId: 'r1' } }, { adk: { author: 'b' } }])(
        'is unknown where %j is noted',
        (metadata) => {
          const messages = [called(metadata)]
          expect(withCallAuthors(messages)).toEqual(messages)
          expect(iterationsAtCalls(messages, new Set(['c1']))).toEqual({})
        },
      )

      it('has no rounds that are no numbers', () => {
        const messages = [called({ adk: { ...place, iterations: { a: '1', b: 1.5, c: 1 } } })]
        expect(iterationsAtCalls(messages, new Set(['c1']))).toEqual({ c: 1 })
      })
    })
  })
})
