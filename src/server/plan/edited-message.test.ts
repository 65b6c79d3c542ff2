import type { ContentPart, Message } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { isEdited, withSentMark } from './edited-message.js'

const said = (content: string | ContentPart[]): Message => ({ id: 'u', role: 'user', content })
const text = (words: string): ContentPart => ({ type: 'text', text: words })
const image: ContentPart = { type: 'image', source: { type: 'url', value: 'https://example.com/a.png' } }
const file: ContentPart = { type: 'document', source: { type: 'file', value: 'file-1' } }

describe('a user message is edited', () => {
  it.each<[string, string | ContentPart[], string | ContentPart[]]>([
    ['when it has other words', 'one', 'two'],
    ['when it has other words in parts', [text('one')], [text('two')]],
    ['when a picture goes', [text('one'), image], 'one'],
    ['when a file goes', [text('one'), file], 'one'],
  ])('%s', (_what, stored, sent) => {
    expect(isEdited(said(stored), said(sent), false)).toBe(true)
  })
})

describe('a user message is the same', () => {
  it.each<[string, string | ContentPart[], string | ContentPart[]]>([
    ['with equal words', 'one', 'one'],
    ['when a text comes as one part', 'one', [text('one')]],
    ['when one part comes as a text', [text('one')], 'one'],
    [
      'whatever metadata its parts have',
      [text('one'), image],
      [text('one'), { ...image, metadata: { a: 1 } }],
    ],
  ])('%s', (_what, stored, sent) => {
    expect(isEdited(said(stored), said(sent), false)).toBe(false)
  })

  it('when a client from before 1.0 lacks the file that it was never given', () => {
    expect(isEdited(said([text('one'), file]), said([text('one')]), true)).toBe(false)
    expect(isEdited(said([text('one'), file]), said([text('two')]), true)).toBe(true)
  })

  it('when it is what the client sent before a hook changed it', () => {
    const stored = withSentMark(said('one, with context'), said('one'))
    expect(isEdited(stored, said('one'), false)).toBe(false)
    expect(isEdited(stored, said([text('one')]), false)).toBe(false)
    expect(isEdited(stored, said('two'), false)).toBe(true)
  })
})

it('a message that a hook leaves as it is gets no mark', () => {
  const message = said('one')
  expect(withSentMark(message, said('one'))).toBe(message)
  expect(withSentMark(message, undefined)).toBe(message)
})
