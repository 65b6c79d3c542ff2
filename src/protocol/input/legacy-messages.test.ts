import { describe, expect, it } from 'vitest'

import { parseRunInput } from './parse-run-input.js'

const parse = (...content: unknown[]) => {
  const body = { threadId: 't', runId: 'r', messages: [{ id: 'u', role: 'user', content }] }
  const before = structuredClone(body)
  const { input, warnings } = parseRunInput(body)
  expect(body).toEqual(before)
  const [message] = input.messages
  return { content: message?.content, warnings }
}

const binary = (members: object) => ({ type: 'binary', ...members })
const data = (mimeType: string) => ({ type: 'data', value: 'AAAA', mimeType })
const at = (part: number, message: string) => ({ field: `messages[0].content[${part}]`, message })

describe('a binary part of a client before 1.0', () => {
  it.each([
    ['image/png', 'image'],
    ['Audio/wav', 'audio'],
    ['video/mp4', 'video'],
    ['application/pdf', 'document'],
    ['image', 'image'],
    ['', 'document'],
  ])('of type %s becomes a part of kind %s', (mimeType, type) => {
    const { content, warnings } = parse(binary({ mimeType, data: 'AAAA' }))
    expect(content).toEqual([{ type, source: data(mimeType) }])
    expect(warnings).toEqual([at(0, `legacy binary part, read as ${type}`)])
  })

  it('keeps its file name as metadata', () => {
    const { content } = parse(binary({ mimeType: 'image/png', data: 'AAAA', filename: 'a.png' }))
    expect(content).toEqual([{ type: 'image', source: data('image/png'), metadata: { filename: 'a.png' } }])
  })

  it('may point to its bytes by URL', () => {
    const { content } = parse(binary({ mimeType: 'image/png', url: 'https://x.test/a' }))
    expect(content).toEqual([
      { type: 'image', source: { type: 'url', value: 'https://x.test/a', mimeType: 'image/png' } },
    ])
  })

  it('is read from its bytes when it has both', () => {
    const { content } = parse(
      binary({ mimeType: 'image/png', data: 'AAAA', url: 'https://x.test/a', id: 'f' }),
    )
    expect(content).toEqual([{ type: 'image', source: data('image/png') }])
  })

  it.each([
    { mimeType: 'image/png', id: 'f1' },
    { data: 'AAAA' },
    { mimeType: 5, data: 'AAAA' },
    { mimeType: 'a/b', data: 5 },
  ])('cannot be carried and is dropped: %j', (members) => {
    const { content, warnings } = parse(binary(members), { type: 'text', text: 'x' })
    expect(content).toEqual([{ type: 'text', text: 'x' }])
    expect(warnings).toEqual([at(0, 'legacy binary part without a mimeType and data or url, dropped')])
  })

  it('is skipped when a modern part carries the same', () => {
    const modern = { type: 'image', source: data('image/png'), metadata: { filename: 'a.png', alt: 'x' } }
    const { content, warnings } = parse(
      binary({ mimeType: 'image/png', data: 'AAAA', filename: 'a.png' }),
      modern,
      binary({ mimeType: 'image/png', data: 'AAAA' }),
    )
    expect(content).toEqual([modern])
    expect(warnings).toEqual([
      at(0, 'legacy binary part that repeats another part, dropped'),
      at(2, 'legacy binary part that repeats another part, dropped'),
    ])
  })

  it.each([
    { type: 'image', source: data('image/png') },
    { type: 'image', source: data('image/png'), metadata: { filename: 'b.png' } },
    { type: 'image', source: { ...data('image/png'), value: 'BBBB' }, metadata: { filename: 'a.png' } },
    { type: 'document', source: data('image/png'), metadata: { filename: 'a.png' } },
  ])('is kept beside a modern part that carries less or other: %j', (modern) => {
    const { content } = parse(modern, binary({ mimeType: 'image/png', data: 'AAAA', filename: 'a.png' }))
    expect(content).toHaveLength(2)
  })

  it('may be there twice', () => {
    const part = binary({ mimeType: 'image/png', data: 'AAAA' })
    expect(parse(part, part).content).toHaveLength(2)
  })
})

describe('an activity message', () => {
  it('is dropped, well formed or not, and leaves the positions of the others alone', () => {
    const { input, warnings } = parseRunInput({
      threadId: 't',
      runId: 'r',
      messages: [
        { id: 'x', role: 'activity', activityType: 'job', content: {} },
        { id: 'u', role: 'user', content: 'x', extra: 1 },
        { role: 'activity', content: 'x' },
      ],
    })
    expect(input.messages).toEqual([{ id: 'u', role: 'user', content: 'x' }])
    const reason = 'activity messages do not belong in a run input, dropped'
    expect(warnings).toEqual([
      { field: 'messages[0]', message: reason },
      { field: 'messages[1].extra', message: 'unknown member, dropped' },
      { field: 'messages[2]', message: reason },
    ])
  })
})
