import { contentToText, type Message } from '@ag-ui/core'
import { expect, test } from 'vitest'
import { toSummaryMessage } from './summary-message.js'

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
