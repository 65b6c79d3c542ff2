import type { AssistantMessage, ContentPart, ToolMessage, UserMessage } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { sequentialIds } from '../../core/ids.js'
import { importMessages, type Import } from './import-messages.js'
import { responseOf, userParts } from './message-parts.js'

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
    expect(userParts(user(content))).toEqual({
      parts: [
        { text: 'Look' },
        { inlineData: { data: 'AAAA', mimeType: 'image/png', displayName: 'a.png' } },
        { fileData: { fileUri: 'https://x/v', mimeType: 'video/mp4' } },
        { fileData: { fileUri: 'https://x/d' } },
        { fileData: { fileUri: 'files/1' } },
      ],
      notes: [],
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
    expect(userParts(user([part]))).toEqual({
      parts: [{ text: '[An attachment of type image could not be read.]' }],
      notes: ["message 'u': the image cannot be given to the model"],
    })
  })
})

describe('what a tool has returned', () => {
  const result = (
    content: ToolMessage['content'],
    more: Partial<ToolMessage> = {},
  ): Record<string, unknown> => responseOf({ id: 'r', role: 'tool', toolCallId: 'c', content, ...more })

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
