import type { Message } from '@ag-ui/core'
import { expect, test } from 'vitest'
import { estimateTokens } from './estimate-tokens.js'

const image = {
  type: 'image',
  source: { type: 'data', value: 'A'.repeat(1_000_000), mimeType: 'image/png' },
} as const
const call = { id: 'c1', type: 'function', function: { name: 'book', arguments: '{"room":12}' } } as const

test.each<[string, Message, number]>([
  ['four characters a token', { id: 'm', role: 'user', content: 'x'.repeat(400) }, 100],
  ['a rest as one more', { id: 'm', role: 'system', content: 'x'.repeat(401) }, 101],
  ['nothing for nothing', { id: 'm', role: 'assistant' }, 0],
  [
    'tool calls with their arguments',
    { id: 'm', role: 'assistant', content: 'Well.', toolCalls: [call, call] },
    2 + 2 * 4,
  ],
  ['results', { id: 'm', role: 'tool', toolCallId: 'c1', content: 'x'.repeat(40) }, 10],
  ['reasoning', { id: 'm', role: 'reasoning', content: 'x'.repeat(40) }, 10],
  ['no activities', { id: 'm', role: 'activity', activityType: 'job', content: { done: 1 } }, 0],
  [
    'media, however large',
    { id: 'm', role: 'user', content: [{ type: 'text', text: 'Look:' }, image] },
    1_002,
  ],
  ['Chinese by the character', { id: 'm', role: 'user', content: '今天天气很好' }, 6],
  ['Japanese and Korean too', { id: 'm', role: 'user', content: 'カナかな한국' }, 6],
])('counts %s', (_, message, tokens) => {
  expect(estimateTokens(message)).toBe(tokens)
})
