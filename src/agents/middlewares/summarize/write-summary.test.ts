import { contentToText, type Message } from '@ag-ui/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  splitText,
  toSummaryMessage,
  toTranscript,
  writeSummary,
  type WriteSummaryOptions,
} from './write-summary.js'

const tokensOf = (text: string) => text.length

function user(content: string): Message {
  return { id: 'u', role: 'user', content }
}

/** Writes a summary with a model that gives these answers in turn, the last one again and again. */
async function write(
  messages: readonly Message[],
  answers: string[],
  options: Partial<WriteSummaryOptions> = {},
) {
  const asked: string[] = []
  const summarize = (text: string) => {
    asked.push(text)
    return Promise.resolve(answers[Math.min(asked.length, answers.length) - 1] ?? '')
  }
  const summary = await writeSummary(messages, {
    previous: undefined,
    inputTokens: 1_000,
    tokensOf,
    summarize,
    ...options,
  })
  return { summary, asked }
}

test('one piece is one call', async () => {
  expect(await write([user('one'), user('two')], ['  They counted.\n'])).toEqual({
    summary: 'They counted.',
    asked: ['<conversation>\nUser: one\nUser: two\n</conversation>'],
  })
})

test('a summary of what came before is told with it', async () => {
  expect(await write([user('three')], ['They counted to three.'], { previous: 'They counted.' })).toEqual({
    summary: 'They counted to three.',
    asked: ['<summary>\nThey counted.\n</summary>\n\n<conversation>\nUser: three\n</conversation>'],
  })
})

test('what is too long for one call is summarized piece by piece', async () => {
  const messages = [user('a'.repeat(20)), user('b'.repeat(20)), user('c'.repeat(20))]
  const { summary, asked } = await write(messages, ['A.', 'All.'], { inputTokens: 100 })
  expect(summary).toBe('All.')
  expect(asked.map((text) => text.includes('<summary>'))).toEqual([false, true])
  expect(asked[1]).toContain('<summary>\nA.\n</summary>')
})

test('a summary of before that is too long itself is still gone on with', async () => {
  const { summary, asked } = await write([user('one'), user('two')], ['Short.'], {
    previous: 'x'.repeat(2_000),
  })
  expect(summary).toBe('Short.')
  expect(asked[1]).toBe('<summary>\nShort.\n</summary>\n\n<conversation>\nUser: two\n</conversation>')
})

test('messages that say nothing need no call', async () => {
  const reasoning: Message = { id: 'r', role: 'reasoning', content: 'hm' }
  expect(await write([reasoning], ['unused'])).toEqual({ summary: 'Nothing was said.', asked: [] })
  expect(await write([reasoning], ['unused'], { previous: 'So far.' })).toEqual({
    summary: 'So far.',
    asked: [],
  })
})

describe('a summary that is of no use fails', () => {
  test.each([
    ['empty', '', 'is empty'],
    ['blank', ' \n', 'is empty'],
    ['too long to go on', 'x'.repeat(501), 'is too long'],
  ])('%s', async (_, answer, what) => {
    await expect(write([user('one')], [answer])).rejects.toMatchObject({
      code: 'MODEL_ERROR',
      message: `The summary that a model made of the conversation ${what}.`,
      details: { retryable: true },
    })
  })

  test('and what the model throws passes on', async () => {
    const failure = new Error('overloaded')
    await expect(write([user('one')], [], { summarize: () => Promise.reject(failure) })).rejects.toBe(failure)
  })
})

test('no call gets too much, and nothing is left out or told twice', async () => {
  const contents = fc.array(
    fc.string({ unit: fc.constantFrom('a', '語', '😀'), maxLength: 300, size: 'max' }),
    {
      minLength: 1,
    },
  )
  await fc.assert(
    fc.asyncProperty(contents, fc.integer({ min: 200, max: 400 }), async (texts, inputTokens) => {
      const messages = texts.map(user)
      const { asked } = await write(messages, ['x'.repeat(inputTokens / 2)], { inputTokens })
      for (const text of asked) expect(tokensOf(text)).toBeLessThanOrEqual(inputTokens)
      const told = asked.map((text) => /<conversation>\n([^]*)<\/conversation>$/.exec(text)?.[1]).join('')
      expect(told).toBe(texts.map((text) => `User: ${text}\n`).join(''))
    }),
  )
})

describe('the transcript', () => {
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
})

describe('the summary message', () => {
  const messages: Message[] = [
    { id: 'u1', role: 'user', content: 'one' },
    { id: 'a1', role: 'assistant', content: 'Yes?' },
    {
      id: 'u2',
      role: 'user',
      content: [
        { type: 'text', text: 'two' },
        { type: 'image', source: { type: 'url', value: 'https://x' } },
      ],
    },
    { id: 'u3', role: 'user', content: 'three' },
    { id: 'a2', role: 'assistant', content: 'No.' },
  ]

  function words(userTokens: number): string[] {
    const { content } = toSummaryMessage(messages, {
      text: 'They counted.',
      userTokens,
      tokensOf: (text) => text.length,
    })
    return [...contentToText(content).matchAll(/<user>\n(.*)\n<\/user>/g)].map(([, word]) => word ?? '')
  }

  test('holds the summary and the words of the user in order', () => {
    const options = { text: 'They counted.', userTokens: 100, tokensOf: () => 1 }
    expect(toSummaryMessage(messages, options)).toEqual({
      id: 'a2:summary',
      role: 'user',
      content: [
        'This is a summary of the conversation up to here.',
        '<summary>\nThey counted.\n</summary>',
        'In it the user wrote, word for word:',
        '<user>\none\n</user>',
        '<user>\ntwo [image]\n</user>',
        '<user>\nthree\n</user>',
      ].join('\n'),
    })
  })

  test('holds the newest words when there is no room for all', () => {
    expect(words(19)).toEqual(['one', 'two [image]', 'three'])
    expect(words(18)).toEqual(['two [image]', 'three'])
    expect(words(15)).toEqual(['three'])
    expect(words(4)).toEqual([])
  })

  test('is the summary alone when the user said nothing', () => {
    const options = { text: 'They counted.', userTokens: 4, tokensOf: (text: string) => text.length }
    expect(toSummaryMessage(messages, options).content).toBe(
      'This is a summary of the conversation up to here.\n<summary>\nThey counted.\n</summary>',
    )
  })
})
