import type { AssistantMessage, ContentPart, ToolMessage, UserMessage } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { sequentialIds } from '../../core/ids.js'
import { callRunId, iterationsAtCalls, withCallAuthors, withCallOrigin } from './call-origin.js'
import { importMessages, toResultPart, toUserParts, type Import } from './import-messages.js'

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
