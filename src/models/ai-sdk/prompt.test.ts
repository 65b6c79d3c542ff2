import type { ContentPart, Message, ToolCall } from '@ag-ui/core'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { runInput } from '../../../test/e2e/support-arbitraries.js'
import { toPrompt } from './prompt.js'

const rules = {
  version: 'v3',
  provider: 'openai',
  isChat: false,
  urls: { 'image/*': [/^https?:\/\/.*$/] },
} as const

function promptOf(messages: readonly Message[], instructions?: string) {
  const onWarning = vi.fn<(message: string) => void>()
  const prompt = toPrompt(messages, { instructions, rules, onWarning })
  return { prompt, warnings: onWarning.mock.calls.map(([message]) => message) }
}

const user = (content: string | ContentPart[]): Message => ({ id: 'u', role: 'user', content })
const reasoning = (content: string, encryptedValue?: string): Message => ({
  id: 'r',
  role: 'reasoning',
  content,
  ...(encryptedValue !== undefined && { encryptedValue }),
})
const assistant = (content: string, ...toolCalls: ToolCall[]): Message => ({
  id: 'a',
  role: 'assistant',
  content,
  toolCalls,
})
const call = (id: string, args = '{}', encryptedValue?: string): ToolCall => ({
  id,
  type: 'function',
  function: { name: `tool of ${id}`, arguments: args },
  ...(encryptedValue !== undefined && { encryptedValue }),
})
const result = (toolCallId: string, content: string | ContentPart[], fields = {}): Message => ({
  id: 't',
  role: 'tool',
  toolCallId,
  content,
  ...fields,
})
const text = (value: string) => ({ type: 'text', text: value }) as const

describe('the system message', () => {
  test('stands first and joins instructions, system and developer messages wherever they stood', () => {
    const messages: Message[] = [
      { id: '1', role: 'system', content: 'from the client' },
      user('hi'),
      { id: '2', role: 'developer', content: 'later' },
    ]
    expect(promptOf(messages, 'instructions').prompt).toEqual([
      { role: 'system', content: 'instructions\n\nfrom the client\n\nlater' },
      { role: 'user', content: [text('hi')] },
    ])
  })

  test('is absent when there is nothing to say', () => {
    expect(promptOf([{ id: '1', role: 'system', content: '' }, user('hi')], '').prompt).toEqual([
      { role: 'user', content: [text('hi')] },
    ])
  })
})

describe('a user message', () => {
  test('keeps its parts in order', () => {
    const image: ContentPart = {
      type: 'image',
      source: { type: 'data', value: 'AAAA', mimeType: 'image/png' },
    }
    expect(promptOf([user([text('look'), image, text('here')])]).prompt).toEqual([
      {
        role: 'user',
        content: [text('look'), { type: 'file', mediaType: 'image/png', data: 'AAAA' }, text('here')],
      },
    ])
  })

  test('loses what the model cannot take, and says so', () => {
    const film: ContentPart = { type: 'video', source: { type: 'url', value: 'https://x.test/film.mp4' } }
    const { prompt, warnings } = promptOf([user([film, text('what is this?')])])
    expect(prompt).toEqual([{ role: 'user', content: [text('what is this?')] }])
    expect(warnings).toEqual(['A part of type video (from a url) was left out: the model cannot take it.'])
  })

  test.each([[''], [[]], [[{ type: 'text', text: '' } as const]]])(
    'is left out when it is empty: %j',
    (content) => {
      expect(promptOf([user(content)]).prompt).toEqual([])
    },
  )
})

describe('an assistant turn', () => {
  test('is one message, with its parts in order', () => {
    const messages = [
      user('hi'),
      reasoning('first', '{"anthropic":{"signature":"s1"}}'),
      { ...assistant('Let me see.'), encryptedValue: '{"openai":{"itemId":"msg_1"}}' },
      { id: 'x', role: 'activity', activityType: 'job', content: {} } satisfies Message,
      reasoning('then'),
      assistant('', call('c1', '{"city":"Oslo"}', '{"google":{"thoughtSignature":"s2"}}'), call('c2')),
    ]
    expect(promptOf(messages).prompt.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'first', providerOptions: { anthropic: { signature: 's1' } } },
          { ...text('Let me see.'), providerOptions: { openai: { itemId: 'msg_1' } } },
          { type: 'reasoning', text: 'then' },
          {
            type: 'tool-call',
            toolCallId: 'c1',
            toolName: 'tool of c1',
            input: { city: 'Oslo' },
            providerOptions: { google: { thoughtSignature: 's2' } },
          },
          { type: 'tool-call', toolCallId: 'c2', toolName: 'tool of c2', input: {} },
        ],
      },
    ])
  })

  test('ends with the next message of the user', () => {
    const { prompt } = promptOf([assistant('one'), user('and?'), assistant('two')])
    expect(prompt.map(({ role }) => role)).toEqual(['assistant', 'user', 'assistant'])
  })

  test.each(['', '{"city":', '[1]', '"Oslo"', 'null', '12'])(
    'has empty arguments where the model wrote %j, which is no object',
    (args) => {
      expect(promptOf([assistant('', call('c', args))]).prompt).toMatchObject([{ content: [{ input: {} }] }])
    },
  )

  test('is left out when it is empty, or nothing but reasoning', () => {
    const { prompt } = promptOf([
      user('hi'),
      reasoning('stopped here', '{"a":{}}'),
      user('again'),
      assistant(''),
    ])
    expect(prompt.map(({ role }) => role)).toEqual(['user', 'user'])
  })
})

describe('tool results', () => {
  const asked = assistant('', call('c1'), call('c2'))

  test('that follow each other are one message, named after their calls', () => {
    const { prompt } = promptOf([asked, result('c1', '{"rain":true}'), result('c2', 'no')])
    expect(prompt[1]).toEqual({
      role: 'tool',
      content: [
        // Text that looks like JSON stays text.
        {
          type: 'tool-result',
          toolCallId: 'c1',
          toolName: 'tool of c1',
          output: { type: 'text', value: '{"rain":true}' },
        },
        {
          type: 'tool-result',
          toolCallId: 'c2',
          toolName: 'tool of c2',
          output: { type: 'text', value: 'no' },
        },
      ],
    })
  })

  test('stay together when nothing but reasoning stands between them', () => {
    const { prompt } = promptOf([asked, result('c1', 'a'), reasoning('hm'), result('c2', 'b')])
    expect(prompt.map(({ role, content }) => [role, content.length])).toEqual([
      ['assistant', 2],
      ['tool', 2],
    ])
  })

  test('hand back their encrypted value', () => {
    const { prompt } = promptOf([asked, result('c1', 'x', { encryptedValue: '{"p":{"k":1}}' })])
    expect(prompt[1]).toMatchObject({ content: [{ providerOptions: { p: { k: 1 } } }] })
  })

  test('without a call before them are left out, and that is told', () => {
    const { prompt, warnings } = promptOf([result('c1', 'early'), asked, result('c9', 'stray')])
    expect(prompt.map(({ role }) => role)).toEqual(['assistant'])
    expect(warnings).toEqual([
      'The result of tool call c1 was left out: the call is not in the history.',
      'The result of tool call c9 was left out: the call is not in the history.',
    ])
  })
})

test('any history becomes a prompt in which turns never touch their like', () => {
  fc.assert(
    fc.property(runInput, fc.constantFrom('v2', 'v3', 'v4'), ({ messages }, version) => {
      const prompt = toPrompt(messages, {
        instructions: undefined,
        rules: { ...rules, version },
        onWarning: () => undefined,
      })
      for (const [index, { role, content }] of prompt.entries()) {
        expect(content.length).toBeGreaterThan(0)
        if (role === 'system') expect(index).toBe(0)
        if (role === 'assistant' || role === 'tool') expect(prompt[index + 1]?.role).not.toBe(role)
      }
    }),
  )
})
