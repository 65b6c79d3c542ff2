import type { ContentPart, Message } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { isEdited, withRewrittenMark } from './edited-message.js'

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
    expect(isEdited(said(stored), said(sent), { isLegacy: false, isNewest: false })).toBe(true)
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
    expect(isEdited(said(stored), said(sent), { isLegacy: false, isNewest: false })).toBe(false)
  })

  it('when a client from before 1.0 lacks the file that it was never given', () => {
    expect(
      isEdited(said([text('one'), file]), said([text('one')]), { isLegacy: true, isNewest: false }),
    ).toBe(false)
    expect(
      isEdited(said([text('one'), file]), said([text('two')]), { isLegacy: true, isNewest: false }),
    ).toBe(true)
  })

  it('when a hook has changed it and the client asks for something else', () => {
    const stored = withRewrittenMark(said('one, with context'), said('one'))
    expect(isEdited(stored, said('one'), { isLegacy: false, isNewest: false })).toBe(false)
    expect(isEdited(stored, said('two'), { isLegacy: false, isNewest: false })).toBe(false)
    // The agent is to answer this.
    expect(isEdited(stored, said('two'), { isLegacy: false, isNewest: true })).toBe(true)
  })
})

it('a message that a hook leaves as it is gets no mark', () => {
  const message = said('one')
  expect(withRewrittenMark(message, said('one'))).toBe(message)
  expect(withRewrittenMark(message, undefined)).toBe(message)
})
