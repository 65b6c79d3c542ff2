import type { ContentPart } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { endsSoon } from '../../../test/support/ends-soon.js'
import type { SpecVersion } from './specification.js'
import { readMedia, toFileData, type MediaContentPart, type MediaRules } from './media.js'
import { toToolResultOutput } from './prompt.js'

const openai: MediaRules = {
  version: 'v3',
  provider: 'openai',
  isChat: false,
  urls: { 'image/*': [/^https?:\/\/.*$/], 'application/pdf': [/^https:\/\/.*$/] },
}
const google: MediaRules = { ...openai, provider: 'google', urls: { '*': [/^https:\/\/files\.test\/.*$/] } }
const versions: SpecVersion[] = ['v2', 'v3', 'v4']

type Source = MediaContentPart['source']
const part = (type: MediaContentPart['type'], source: Source): MediaContentPart => ({ type, source })
const png: Source = { type: 'data', value: 'AAAA', mimeType: 'image/png' }
const url = (value: string, mimeType?: string): Source => ({
  type: 'url',
  value,
  ...(mimeType && { mimeType }),
})
const file = (value: string, fields: Partial<Source> = {}): Source =>
  ({ type: 'file', value, ...fields }) as Source

/** The `file` part that a prompt would get, without its type. */
function written(given: MediaContentPart, rules: MediaRules) {
  const media = readMedia(given, rules)
  return media && { mediaType: media.mediaType, data: toFileData(media, rules) }
}

describe('data', () => {
  test.each(versions)('is written as version %s has it', (version) => {
    expect(written(part('image', png), { ...openai, version })).toEqual({
      mediaType: 'image/png',
      data: version === 'v4' ? { type: 'data', data: 'AAAA' } : 'AAAA',
    })
  })

  test('also comes in an address', () => {
    expect(written(part('image', url('data:image/gif;base64,R0lG')), openai)).toEqual({
      mediaType: 'image/gif',
      data: 'R0lG',
    })
    expect(written(part('audio', url('data:;base64,AA', 'audio/wav')), openai)).toEqual({
      mediaType: 'audio/wav',
      data: 'AA',
    })
  })
})

describe('an address', () => {
  test.each(versions)('that the model takes is written as version %s has it', (version) => {
    const address = new URL('https://x.test/A.png')
    expect(written(part('image', url(address.href)), { ...openai, version })).toEqual({
      mediaType: 'image/*',
      data: version === 'v4' ? { type: 'url', url: address } : address,
    })
  })

  test('of a document is taken for PDF', () => {
    expect(written(part('document', url('https://x.test/a')), openai)?.mediaType).toBe('application/pdf')
  })

  test.each([
    ['of a type the model does not take', part('video', url('https://x.test/a.mp4'))],
    ['of a type it takes from elsewhere only', part('document', url('http://x.test/a.pdf'))],
    ['with a stated type it does not take', part('image', url('https://x.test/a', 'text/plain'))],
    ['that is none', part('image', url('not an address'))],
    ['with data that is not base64', part('image', url('data:image/svg+xml,<svg/>'))],
  ])('%s cannot be taken', (_what, given) => {
    expect(readMedia(given, openai)).toBeUndefined()
  })

  test.each(['*', '*/*'])('is taken for any type under %s', (pattern) => {
    const rules = { ...openai, urls: { [pattern]: [/^https:\/\/x\.test/] } }
    expect(readMedia(part('video', url('https://X.test/a.mp4')), rules)).toBeDefined()
  })
})

describe('a file handle', () => {
  test('is a reference under the name of the provider in version 4', () => {
    expect(
      written(part('document', file('any', { provider: 'openai' })), { ...openai, version: 'v4' }),
    ).toEqual({
      mediaType: 'application/pdf',
      data: { type: 'reference', reference: { openai: 'any' } },
    })
  })

  test('of OpenAI stands in the place of the data before', () => {
    expect(written(part('image', file('file-1')), openai)).toEqual({ mediaType: 'image/*', data: 'file-1' })
  })

  test('of Google is an address before', () => {
    expect(written(part('video', file('https://files.test/1')), google)).toEqual({
      mediaType: 'video/*',
      data: new URL('https://files.test/1'),
    })
  })

  test.each([
    ['of another provider', file('file-1', { provider: 'anthropic' }), openai],
    [
      'of another provider in version 4',
      file('x', { provider: 'google' }),
      { ...openai, version: 'v4' } as const,
    ],
    ['that OpenAI would take for data', file('other-1'), openai],
    ['of a provider without handles', file('file-1'), { ...openai, provider: 'anthropic' }],
    ['of an image in chat completions', file('file-1'), { ...openai, isChat: true }],
  ])('%s cannot be taken', (_what, source, rules) => {
    expect(readMedia(part('image', source), rules)).toBeUndefined()
  })

  test('of a document is taken in chat completions', () => {
    expect(readMedia(part('document', file('file-1')), { ...openai, isChat: true })).toBeDefined()
  })
})

describe('a tool result', () => {
  const skipped: ContentPart[] = []
  const outputOf = (content: string | ContentPart[], rules: MediaRules, error?: string) => {
    skipped.length = 0
    const message = { id: 't', role: 'tool', toolCallId: 'c', content, ...(error && { error }) } as const
    return toToolResultOutput(message, rules, (given) => skipped.push(given))
  }
  const image = part('image', png)
  const pdf = part('document', { type: 'data', value: 'JVBE', mimeType: 'application/pdf' })
  const text: ContentPart = { type: 'text', text: 'see' }

  test('of text alone is text, in parts too', () => {
    expect(outputOf('{"a":1}', openai)).toEqual({ type: 'text', value: '{"a":1}' })
    expect(outputOf([text, text], openai)).toEqual({ type: 'text', value: 'seesee' })
  })

  test('that failed is an error', () => {
    expect(outputOf('no such city', openai, 'boom')).toEqual({ type: 'error-text', value: 'no such city' })
    expect(outputOf('', openai, 'boom')).toEqual({ type: 'error-text', value: 'boom' })
  })

  test('with media is content, as version 2 has it', () => {
    expect(outputOf([text, image, pdf], { ...openai, version: 'v2' })).toEqual({
      type: 'content',
      value: [
        { type: 'text', text: 'see' },
        { type: 'media', data: 'AAAA', mediaType: 'image/png' },
        { type: 'media', data: 'JVBE', mediaType: 'application/pdf' },
      ],
    })
  })

  test('with media is content, as version 3 has it', () => {
    const remote = [part('image', url('https://x.test/a')), part('document', url('https://x.test/b'))]
    const handles = [part('image', file('file-1')), part('document', file('file-2'))]
    expect(outputOf([image, pdf, ...remote, ...handles], openai)).toEqual({
      type: 'content',
      value: [
        { type: 'image-data', data: 'AAAA', mediaType: 'image/png' },
        { type: 'file-data', data: 'JVBE', mediaType: 'application/pdf' },
        { type: 'image-url', url: 'https://x.test/a', mediaType: 'image/*' },
        { type: 'file-url', url: 'https://x.test/b', mediaType: 'application/pdf' },
        { type: 'image-file-id', fileId: 'file-1' },
        { type: 'file-id', fileId: 'file-2' },
      ],
    })
  })

  test('with media is content, as version 4 has it', () => {
    expect(outputOf([image], { ...openai, version: 'v4' })).toEqual({
      type: 'content',
      value: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } }],
    })
  })

  test.each([
    [
      'in version 2 with an address',
      part('image', url('https://x.test/a')),
      { ...openai, version: 'v2' } as const,
    ],
    ['in chat completions', image, { ...openai, isChat: true }],
    ['from an address the model does not take', part('video', url('https://x.test/a')), openai],
  ])('loses media %s, which leaves the text', (_what, given, rules) => {
    expect(outputOf([text, given], rules)).toEqual({ type: 'text', value: 'see' })
    expect(skipped).toEqual([given])
    expect(outputOf([given], rules)).toEqual({ type: 'text', value: '' })
  })
})

test('a URL of data that never begins is read in linear time', () => {
  const given = part('image', url(`data:${'a'.repeat(300_000)}`))
  expect(endsSoon(() => readMedia(given, { ...openai, urls: {} }))).toBeUndefined()
})
