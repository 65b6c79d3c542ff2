import type { Message } from '@ag-ui/core'
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toAgui } from './to-agui.js'
import { toLangChain } from './to-langchain.js'

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

  it('keeps arguments that are no JSON, and the call in its place when it has an answer', () => {
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
      return { id: thoughtId, role: 'reasoning', content: said, ...(signed ? { encryptedValue: 'sig' } : {}) }
    })
    // LangChain keeps calls that cannot be read apart from the others.
    const calls = plan.calls.map((planned, index) => ({ ...planned, id: `${id}-c${index}` }))
    const isBad = ({ args: given, answer }: (typeof calls)[number]) => answer === null && !given.endsWith('}')
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
      { numRuns: 500 },
    )
  })
})
