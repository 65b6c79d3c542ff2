import type { Message } from '@ag-ui/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { writeSummary, type WriteSummaryOptions } from './write-summary.js'

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
  const ask = (text: string) => {
    asked.push(text)
    return Promise.resolve(answers[Math.min(asked.length, answers.length) - 1] ?? '')
  }
  const summary = await writeSummary(messages, {
    previous: undefined,
    inputTokens: 1_000,
    tokensOf,
    ask,
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
    await expect(write([user('one')], [], { ask: () => Promise.reject(failure) })).rejects.toBe(failure)
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
