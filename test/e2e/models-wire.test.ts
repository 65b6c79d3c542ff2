import type { ContentPart, Message } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { partsOf, wholeOf } from './support-models-parts.js'
import { clients, connect, startMock, type Api } from './support-models-providers.js'

const [pngData, pdfData, wavData] = ['iVBORw0KGgo=', 'JVBERi0=', 'UklGRg==']
const data = (
  type: 'image' | 'document' | 'audio' | 'video',
  value: string,
  mimeType: string,
): ContentPart => ({
  type,
  source: { type: 'data', value, mimeType },
})
const png = data('image', pngData, 'image/png')
const pdf = data('document', pdfData, 'application/pdf')
const remote: ContentPart = { type: 'image', source: { type: 'url', value: 'https://x.test/a.png' } }
const film: ContentPart = { type: 'video', source: { type: 'url', value: 'https://x.test/a.mp4' } }

/** Sends a conversation and gives what went over the wire. */
async function send(client: (typeof clients)[number], messages: Message[]) {
  const mock = await startMock()
  mock.on({ predicate: () => true }, { content: 'ok' })
  const { model, bodies, warnings } = connect(client, mock.url)
  const tools = [{ name: 'draw', description: 'Draws.' }]
  expect(wholeOf(await partsOf(model, { messages, tools })).text).toBe('ok')
  expect(bodies).toHaveLength(1)
  const [body] = bodies
  const sent = (body?.messages ?? body?.input ?? body?.contents) as Record<string, unknown>[]
  return { sent, warnings }
}

const user = (...content: ContentPart[]): Message => ({
  id: 'u',
  role: 'user',
  content: [{ type: 'text', text: 'look' }, ...content],
})

describe.each(clients)('$name', (client) => {
  test('sends images and documents', async () => {
    const expected: Record<Api, unknown[]> = {
      chat: [
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${pngData}` } },
        {
          type: 'file',
          file: { filename: 'part-2.pdf', file_data: `data:application/pdf;base64,${pdfData}` },
        },
      ],
      responses: [
        { type: 'input_text', text: 'look' },
        { type: 'input_image', image_url: `data:image/png;base64,${pngData}` },
        { type: 'input_file', filename: 'part-2.pdf', file_data: `data:application/pdf;base64,${pdfData}` },
      ],
      messages: [
        { type: 'text', text: 'look' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pngData } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdfData } },
      ],
      gemini: [
        { text: 'look' },
        { inlineData: { mimeType: 'image/png', data: pngData } },
        { inlineData: { mimeType: 'application/pdf', data: pdfData } },
      ],
    }
    const { sent, warnings } = await send(client, [user(png, pdf)])
    expect(sent[0]).toEqual({
      role: 'user',
      [client.api === 'gemini' ? 'parts' : 'content']: expected[client.api],
    })
    expect(warnings).toEqual([])
  })

  test('sends the address of an image where the provider fetches it, and never a download of ours', async () => {
    const { sent, warnings } = await send(client, [user(remote)])
    expect(JSON.stringify(sent).includes('https://x.test/a.png')).toBe(client.api !== 'gemini')
    expect(warnings).toHaveLength(client.api === 'gemini' ? 1 : 0)
  })

  test('leaves out what the model cannot take, and the run goes on', async () => {
    const { sent, warnings } = await send(client, [
      user(data('audio', wavData, 'audio/x-unheard'), png, film, data('video', 'AAAA', 'video/mp4')),
    ])
    const text = JSON.stringify(sent)
    expect(text).toContain('look')
    expect(text).toContain(pngData)
    // Gemini takes data of any type.
    expect(text.includes('audio/x-unheard')).toBe(client.api === 'gemini')
    expect(warnings).toHaveLength(client.api === 'gemini' ? 1 : 3)
  })

  test('sends file handles of its own provider only', async () => {
    const handle = (provider: string, value: string): ContentPart => ({
      type: 'document',
      source: { type: 'file', value, provider },
    })
    const { sent } = await send(client, [user(handle('openai', 'file-1'), handle('elsewhere', 'file-2'))])
    const text = JSON.stringify(sent)
    expect(text.includes('"file_id":"file-1"')).toBe(client.name.startsWith('OpenAI'))
    expect(text).not.toContain('file-2')
  })

  test('sends the results of tools, with their parts', async () => {
    const call = (id: string, args: string) =>
      ({ id, type: 'function', function: { name: 'draw', arguments: args } }) as const
    const { sent } = await send(client, [
      user(),
      { id: 'a', role: 'assistant', toolCalls: [call('c1', '{"what":"a mill"}'), call('c2', 'not JSON')] },
      { id: 't1', role: 'tool', toolCallId: 'c1', content: [{ type: 'text', text: 'drawn' }, png] },
      { id: 't2', role: 'tool', toolCallId: 'c2', content: 'what?', error: 'what?' },
    ])
    const [results, answers] = resultsOf(client.api, sent)
    expect(results).toEqual(expectedResults[client.api])
    expect(JSON.stringify(answers)).toContain('what?')
    const calls = JSON.stringify(sent)
    expect(calls).toMatch(/\{\\?"what\\?":\\?"a mill\\?"\}/)
    expect(calls).not.toContain('not JSON')
  })
})

/** The content of the two tool results. */
function resultsOf(api: Api, sent: readonly Record<string, unknown>[]): unknown[] {
  switch (api) {
    case 'chat':
      return sent.filter(({ role }) => role === 'tool').map(({ content }) => content)
    case 'responses':
      return sent.filter(({ type }) => type === 'function_call_output').map(({ output }) => output)
    case 'messages':
      return (sent[2]?.content as { content: unknown }[]).map(({ content }) => content)
    case 'gemini':
      return (sent[2]?.parts as { functionResponse: unknown }[]).map((part) => part.functionResponse)
  }
}

const expectedResults: Record<Api, unknown> = {
  // Chat completions have no place for the image.
  chat: 'drawn',
  responses: [
    { type: 'input_text', text: 'drawn' },
    { type: 'input_image', image_url: `data:image/png;base64,${pngData}` },
  ],
  messages: [
    { type: 'text', text: 'drawn' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pngData } },
  ],
  gemini: {
    id: 'c1',
    name: 'draw',
    response: { name: 'draw', content: 'drawn' },
    parts: [{ inlineData: { mimeType: 'image/png', data: pngData } }],
  },
}
