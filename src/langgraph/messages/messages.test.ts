import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Message } from '@ag-ui/core'
import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages'
import { ChatGoogleGenerativeAI } from '@langchain/google-genai'
import { ChatOpenAI } from '@langchain/openai'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toAgui } from './to-agui.js'
import { toLangChain } from './to-langchain.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

describe('to LangChain', () => {
  const png = { type: 'data', value: 'iVBORw0KGgo=', mimeType: 'image/png' } as const

  function call(id: string, args: string) {
    return { id, type: 'function' as const, function: { name: 'look', arguments: args } }
  }

  describe('toLangChain', () => {
    it('keeps roles and ids', () => {
      const messages = toLangChain([
        { id: 's', role: 'system', content: 'Be kind.' },
        { id: 'd', role: 'developer', content: 'Be short.' },
        { id: 'u', role: 'user', content: 'Hello', name: 'ann' },
        { id: 'a', role: 'assistant', content: 'Hi' },
      ])
      expect(messages.map(({ id, type, text }) => [id, type, text])).toEqual([
        ['s', 'system', 'Be kind.'],
        ['d', 'system', 'Be short.'],
        ['u', 'human', 'Hello'],
        ['a', 'ai', 'Hi'],
      ])
      expect(messages[1]?.additional_kwargs).toEqual({ __openai_role__: 'developer' })
      expect(messages[2]?.name).toBe('ann')
    })

    it('makes standard blocks of parts, marked so that all clients know them', () => {
      const [message] = toLangChain([
        {
          id: 'u',
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image', source: png },
            { type: 'audio', source: { type: 'url', value: 'https://x.test/a.mp3', mimeType: 'audio/mp3' } },
            { type: 'document', source: { type: 'file', value: 'file-1' }, metadata: { filename: 'a.pdf' } },
            { type: 'video', source: { type: 'file', value: 'https://files.test/v1' } },
          ],
        },
      ])
      expect(message?.content).toEqual([
        { type: 'text', text: 'See' },
        { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
        { type: 'audio', url: 'https://x.test/a.mp3', mimeType: 'audio/mp3' },
        { type: 'file', fileId: 'file-1', metadata: { filename: 'a.pdf' } },
        { type: 'video', url: 'https://files.test/v1' },
      ])
      expect(message?.response_metadata).toEqual({ output_version: 'v1' })
    })

    it('gives a text document as a text', () => {
      const value = Buffer.from('a,b\n1,2').toString('base64')
      const source = { type: 'data', value, mimeType: 'text/csv' } as const
      const [message] = toLangChain([{ id: 'u', role: 'user', content: [{ type: 'document', source }] }])
      expect(message?.text).toBe('a,b\n1,2')
      expect(message && toAgui([message])).toEqual([
        { id: 'u', role: 'user', content: [{ type: 'document', source }] },
      ])
    })

    it('parses the arguments of calls and names their results', () => {
      const [asked, result] = toLangChain([
        { id: 'a', role: 'assistant', toolCalls: [call('c1', '{"q":1}')] },
        { id: 'c1:result', role: 'tool', toolCallId: 'c1', content: 'none', error: 'Not there' },
      ])
      expect((asked as AIMessage).tool_calls).toEqual([
        { type: 'tool_call', id: 'c1', name: 'look', args: { q: 1 } },
      ])
      expect(result).toMatchObject({ name: 'look', tool_call_id: 'c1', status: 'error', content: 'none' })
    })

    it('keeps arguments that are not JSON, and the call if it has a result', () => {
      const open = toLangChain([{ id: 'a', role: 'assistant', toolCalls: [call('c1', '{"q":')] }])
      expect(open[0]).toMatchObject({ tool_calls: [], invalid_tool_calls: [{ id: 'c1', args: '{"q":' }] })
      const thread: Message[] = [
        { id: 'a', role: 'assistant', toolCalls: [call('c1', '{"q":')] },
        { id: 'c1:result', role: 'tool', toolCallId: 'c1', content: 'What?' },
      ]
      const answered = toLangChain(thread)
      expect(answered[0]).toMatchObject({ tool_calls: [{ id: 'c1' }], invalid_tool_calls: [] })
      expect(toAgui(answered)).toEqual(thread)
    })

    it('gives signed reasoning back in the way of its provider, and leaves out what belongs to no message', () => {
      const messages = toLangChain([
        { id: 'lost', role: 'reasoning', content: 'Lost' },
        { id: 'u', role: 'user', content: 'Hello' },
        { id: 'a:reasoning', role: 'reasoning', content: 'Well', encryptedValue: 'sig' },
        { id: 'act', role: 'activity', activityType: 'plan', content: {} },
        { id: 'a', role: 'assistant', content: 'Hi' },
        { id: 'rs_1', role: 'reasoning', content: 'Hm', encryptedValue: 'enc' },
        { id: 'b', role: 'assistant', content: 'Ho' },
        { id: 'c:reasoning', role: 'reasoning', content: 'Plain' },
        { id: 'c', role: 'assistant', content: 'He' },
      ])
      expect(messages.map(({ content, additional_kwargs }) => [content, additional_kwargs])).toEqual([
        ['Hello', {}],
        [
          [
            { type: 'thinking', thinking: 'Well', signature: 'sig' },
            { type: 'text', text: 'Hi' },
          ],
          {},
        ],
        [
          'Ho',
          {
            reasoning: {
              type: 'reasoning',
              id: 'rs_1',
              summary: [{ type: 'summary_text', text: 'Hm' }],
              encrypted_content: 'enc',
            },
          },
        ],
        ['He', { reasoning_content: 'Plain' }],
      ])
    })

    it('makes real messages of LangChain', () => {
      const [system, user, assistant, tool] = toLangChain([
        { id: 's', role: 'system', content: '' },
        { id: 'u', role: 'user', content: '' },
        { id: 'a', role: 'assistant', toolCalls: [call('c', '')] },
        { id: 't', role: 'tool', toolCallId: 'c', content: [{ type: 'image', source: png }] },
      ])
      expect(system).toBeInstanceOf(SystemMessage)
      expect(user).toBeInstanceOf(HumanMessage)
      expect(assistant).toBeInstanceOf(AIMessage)
      expect(tool).toBeInstanceOf(ToolMessage)
    })
  })

  const text = fc.string({ minLength: 1, maxLength: 8 })
  const mimeType = fc.constantFrom('image/png', 'text/plain', 'application/pdf', 'audio/wav')
  const data = fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString('base64'))
  const source = fc.oneof(
    fc.record({ type: fc.constant('data' as const), value: data, mimeType }),
    fc.record(
      { type: fc.constant('url' as const), value: fc.webUrl(), mimeType },
      { requiredKeys: ['type', 'value'] },
    ),
    fc.record({ type: fc.constant('file' as const), value: fc.stringMatching(/^file-[a-z0-9]{1,4}$/) }),
  )
  const metadata = fc.constantFrom({ filename: 'a.pdf' }, { note: 'kept', deep: { list: [1] } })
  const part = fc.oneof(
    fc.record({ type: fc.constant('text' as const), text }),
    fc.record(
      {
        type: fc.constantFrom('image' as const, 'audio' as const, 'video' as const, 'document' as const),
        source,
        metadata,
      },
      { requiredKeys: ['type', 'source'] },
    ),
  )
  const content = fc.oneof(text, fc.array(part, { minLength: 1, maxLength: 3 }))
  const args = fc.oneof(
    fc.dictionary(fc.constantFrom('a', 'b', '__proto'), fc.jsonValue()).map((value) => JSON.stringify(value)),
    fc.constantFrom('{"a":', '[1]', '"x"', 'null', '7'),
  )
  const extras = { metadata, encryptedValue: text }

  type Made = (n: number) => Message[]

  const user: fc.Arbitrary<Made> = fc
    .record({ content, name: text, ...extras }, { requiredKeys: ['content'] })
    .map((fields) => (n) => [{ id: `m${n}`, role: 'user', ...fields }])
  const system: fc.Arbitrary<Made> = fc
    .record({ role: fc.constantFrom('system' as const, 'developer' as const), content: text })
    .map((fields) => (n) => [{ id: `m${n}`, ...fields }])
  interface Planned {
    id: string
    content: string
    signed: boolean
  }
  const thoughts: fc.Arbitrary<Planned[]> = fc.oneof(
    fc.constant<Planned[]>([]),
    fc
      .record({ id: fc.constantFrom('own', 'rs_1', 'odd'), content: text, signed: fc.boolean() })
      .map((one) => [one]),
    fc.array(
      fc.record({ id: fc.constant('own'), content: fc.string({ maxLength: 5 }), signed: fc.constant(true) }),
      {
        maxLength: 3,
      },
    ),
  )
  const assistant: fc.Arbitrary<Made> = fc
    .record({
      thoughts,
      text: fc.string({ maxLength: 8 }),
      calls: fc.array(
        fc.record({ args, signed: fc.boolean(), answer: fc.option(content), error: fc.boolean() }),
        {
          maxLength: 3,
        },
      ),
    })
    .map((plan) => (n) => {
      const id = `m${n}`
      const reasoning = plan.thoughts.map(({ id: kind, content: said, signed }, index): Message => {
        const own = index === 0 ? `${id}:reasoning` : `${id}:reasoning:${index + 1}`
        const thoughtId = kind === 'own' ? own : `${kind}${n}`
        return {
          id: thoughtId,
          role: 'reasoning',
          content: said,
          ...(signed ? { encryptedValue: 'sig' } : {}),
        }
      })
      // LangChain keeps calls that cannot be read apart from the others.
      const calls = plan.calls.map((planned, index) => ({ ...planned, id: `${id}-c${index}` }))
      const isBad = ({ args: given, answer }: (typeof calls)[number]) =>
        answer === null && !given.endsWith('}')
      const ordered = [...calls.filter((one) => !isBad(one)), ...calls.filter(isBad)]
      const toolCalls = ordered.map(({ id: callId, args: given, signed }) => ({
        ...call(callId, given),
        ...(signed ? { encryptedValue: 'sig' } : {}),
      }))
      const said = plan.text === '' && toolCalls.length > 0 ? {} : { content: plan.text }
      const results = ordered.flatMap(({ id: callId, answer, error }, index): Message[] => {
        if (answer === null) return []
        const resultId = index % 2 === 0 ? `${callId}:result` : `client-${callId}`
        const failed = error ? { error: 'It broke' } : {}
        return [{ id: resultId, role: 'tool', toolCallId: callId, content: answer, ...failed }]
      })
      return [
        ...reasoning,
        { id, role: 'assistant', ...said, ...(toolCalls.length > 0 ? { toolCalls } : {}) },
        ...results,
      ]
    })

  describe('there and back', () => {
    it('gives the same conversation, whatever it is', () => {
      const conversation = fc.array(fc.oneof(user, system, assistant), { maxLength: 6 })
      fc.assert(
        fc.property(conversation, (made) => {
          const thread = made.flatMap((make, index) => make(index))
          expect(toAgui(toLangChain(thread))).toEqual(thread)
        }),
        { numRuns: propertyRuns(300) },
      )
    })
  })
})

describe('to AG-UI', () => {
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

    it('gives a message without an id one from its index, and leaves it as it is', () => {
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

    it.each(['constructor', 'toString', '__proto__'])(
      'does not take a block for media because its type is %s, a name that every object has',
      (type) => {
        const block = { type, data: 'aGk=', mimeType: 'image/png' }
        const inline = { type: 'inlineData', inlineData: { data: 'aGk=', mimeType: `${type}/x` } }
        const content = [{ type: 'text', text: 'See' }, block, inline]
        expect(toAgui([new HumanMessage({ id: 'u', content })])).toEqual([
          {
            id: 'u',
            role: 'user',
            content: [
              { type: 'text', text: 'See' },
              // Media of a kind that has no part of its own is a document.
              { type: 'document', source: { type: 'data', value: 'aGk=', mimeType: `${type}/x` } },
            ],
          },
        ])
      },
    )
  })
})

describe('providers', () => {
  // The bodies that the clients send. Each request is refused: only its body matters.
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
})
