import type { Message } from '@ag-ui/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { splitText, toTranscript } from './transcript.js'

describe('toTranscript', () => {
  const book = { name: 'book', arguments: '{"room":12}' }
  const image = { type: 'image', source: { type: 'url', value: 'https://example.com/a.png' } } as const

  test.each<[Message, string]>([
    [{ id: 'm', role: 'user', content: 'Hello' }, 'User: Hello\n'],
    [{ id: 'm', role: 'user', content: [{ type: 'text', text: 'Look:' }, image] }, 'User: Look: [image]\n'],
    [{ id: 'm', role: 'assistant', content: 'Hi' }, 'Assistant: Hi\n'],
    [
      {
        id: 'm',
        role: 'assistant',
        content: 'Well.',
        toolCalls: [{ id: 'c1', type: 'function', function: book }],
      },
      'Assistant: Well.\nCall c1 of book: {"room":12}\n',
    ],
    [
      { id: 'm', role: 'assistant', toolCalls: [{ id: 'c1', type: 'function', function: book }] },
      'Call c1 of book: {"room":12}\n',
    ],
    [{ id: 'm', role: 'tool', toolCallId: 'c1', content: 'booked' }, 'Result of call c1: booked\n'],
    [{ id: 'm', role: 'tool', toolCallId: 'c1', content: [image] }, 'Result of call c1: [image]\n'],
    [{ id: 'm', role: 'system', content: 'Be brief.' }, 'System: Be brief.\n'],
    [{ id: 'm', role: 'developer', content: 'Be brief.' }, 'System: Be brief.\n'],
    [{ id: 'm', role: 'assistant' }, ''],
    [{ id: 'm', role: 'reasoning', content: 'hm' }, ''],
    [{ id: 'm', role: 'activity', activityType: 'job', content: { done: 1 } }, ''],
  ])('%o', (message, expected) => {
    expect(toTranscript(message)).toBe(expected)
  })
})

describe('splitText', () => {
  test('leaves whole what fits', () => {
    expect(splitText('text', () => true)).toEqual(['text'])
    expect(splitText('', () => false)).toEqual([''])
  })

  test('stops at single characters', () => {
    expect(splitText('a😀b', () => false)).toEqual(['a', '😀', 'b'])
  })

  test('loses nothing, and every part fits', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', '語', '😀') })
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 9 }), (text, size) => {
        const parts = splitText(text, (part) => part.length <= size)
        expect(parts.join('')).toBe(text)
        for (const part of parts) expect(part.length).toBeLessThanOrEqual(size)
      }),
    )
  })
})
