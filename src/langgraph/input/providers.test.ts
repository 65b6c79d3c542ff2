import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Message } from '@ag-ui/core'
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatGoogleGenerativeAI } from '@langchain/google-genai'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { ChatOpenAI } from '@langchain/openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toLangChain } from './to-langchain.js'

// The bodies that the clients send. Each is refused: only what was asked matters.
const bodies: Record<string, unknown>[] = []
const server = createServer((request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    bodies.push(JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>)
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}')
  })
})
let baseUrl = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

const png = { type: 'data', value: 'iVBORw0KGgo=', mimeType: 'image/png' } as const
const pdf = { type: 'data', value: 'JVBERi0=', mimeType: 'application/pdf' } as const
const csv = { type: 'data', value: Buffer.from('a,b').toString('base64'), mimeType: 'text/csv' } as const

const thread: Message[] = [
  {
    id: 'u',
    role: 'user',
    content: [
      { type: 'text', text: 'See' },
      { type: 'image', source: png },
      { type: 'image', source: { type: 'url', value: 'https://x.test/a.png', mimeType: 'image/png' } },
      { type: 'document', source: pdf, metadata: { filename: 'a.pdf' } },
      { type: 'document', source: csv },
    ],
  },
  { id: 'a:reasoning', role: 'reasoning', content: 'Well', encryptedValue: 'sig' },
  {
    id: 'a',
    role: 'assistant',
    content: 'Let me look',
    toolCalls: [
      { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"q":1}' } },
      { id: 'c2', type: 'function', function: { name: 'look', arguments: '{"q":' } },
    ],
  },
  { id: 'client-1', role: 'tool', toolCallId: 'c1', content: [{ type: 'text', text: 'Found' }] },
  { id: 'c2:result', role: 'tool', toolCallId: 'c2', content: '', error: 'Not JSON' },
  { id: 'b:reasoning', role: 'reasoning', content: 'Unsigned' },
  { id: 'b', role: 'assistant', content: 'There' },
  { id: 'v', role: 'user', content: 'Thanks' },
]

async function asked(model: BaseChatModel): Promise<Record<string, unknown>> {
  await expect(model.invoke(toLangChain(thread))).rejects.toThrow()
  return bodies.at(-1) ?? {}
}

describe('what providers are sent of a thread', () => {
  it('is in the words of OpenAI', async () => {
    const model = new ChatOpenAI({
      model: 'gpt-4o',
      apiKey: 'x',
      maxRetries: 0,
      configuration: { baseURL: baseUrl },
    })
    expect((await asked(model)).messages).toMatchObject([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          { type: 'image_url', image_url: { url: 'https://x.test/a.png' } },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' } },
          { type: 'text', text: 'a,b' },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'Let me look' }],
        tool_calls: [{ id: 'c1' }, { id: 'c2' }],
      },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'Found' }] },
      { role: 'tool', tool_call_id: 'c2', content: 'Not JSON' },
      { role: 'assistant', content: 'There' },
      { role: 'user', content: 'Thanks' },
    ])
  })

  it('is in the words of Anthropic', async () => {
    const model = new ChatAnthropic({
      model: 'claude-sonnet-4-5',
      apiKey: 'x',
      maxRetries: 0,
      anthropicApiUrl: baseUrl,
    })
    expect((await asked(model)).messages).toMatchObject([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
          { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
          { type: 'text', text: 'a,b' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Well', signature: 'sig' },
          { type: 'text', text: 'Let me look' },
          { type: 'tool_use', id: 'c1', input: { q: 1 } },
          { type: 'tool_use', id: 'c2' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'Found' }] },
          { type: 'tool_result', tool_use_id: 'c2', content: 'Not JSON' },
        ],
      },
      { role: 'assistant', content: 'There' },
      { role: 'user', content: 'Thanks' },
    ])
  })

  it('is in the words of Google', async () => {
    const model = new ChatGoogleGenerativeAI({
      model: 'gemini-2.5-flash',
      apiKey: 'x',
      maxRetries: 0,
      baseUrl,
    })
    expect((await asked(model)).contents).toMatchObject([
      {
        role: 'user',
        parts: [
          { text: 'See' },
          { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
          { fileData: { mimeType: 'image/png', fileUri: 'https://x.test/a.png' } },
          { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
          { text: 'a,b' },
        ],
      },
      {
        role: 'model',
        parts: [
          { text: 'Well', thought: true, thoughtSignature: 'sig' },
          { text: 'Let me look' },
          { functionCall: { name: 'look', args: { q: 1 } } },
          { functionCall: { name: 'look' } },
        ],
      },
      { parts: [{ functionResponse: { name: 'look' } }] },
      { parts: [{ functionResponse: { name: 'look', response: { error: {} } } }] },
      { role: 'model', parts: [{ text: 'There' }] },
      { role: 'user', parts: [{ text: 'Thanks' }] },
    ])
  })
})
