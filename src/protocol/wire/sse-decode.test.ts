import { describe, expect, it } from 'vitest'

import { decodeSse, type SseFrame } from './sse-decode.js'

const bytes = (text: string) => new TextEncoder().encode(text)

async function decode(...chunks: (string | Uint8Array)[]): Promise<SseFrame[]> {
  const frames: SseFrame[] = []
  for await (const frame of decodeSse(stream(chunks))) frames.push(frame)
  return frames
}

async function* stream(chunks: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(typeof chunk === 'string' ? bytes(chunk) : chunk)
}

const event = (frame: number, value: unknown, data = JSON.stringify(value)) => ({
  kind: 'event',
  frame,
  data,
  event: value,
})

describe('reading an SSE stream', () => {
  it.each([
    ['nothing', '', []],
    ['a frame', 'data: {"a":1}\n\n', [event(1, { a: 1 })]],
    ['a frame without a space', 'data:1\n\n', [event(1, 1)]],
    ['an id', 'id: r:1\ndata: 1\n\ndata: 2\n\n', [{ ...event(1, 1), id: 'r:1' }, event(2, 2)]],
    ['event and retry lines', 'event: x\nretry: 5\ndata: 1\n\n', [event(1, 1)]],
    ['a byte order mark', '\ufeffdata: 1\n\n', [event(1, 1)]],
    ['comments', ': keep-alive\n\n:\n\ndata: 1\n: inside\n\n', [event(1, 1)]],
    ['unknown fields', 'foo: bar\nbaz\ndata: 1\n\n', [event(1, 1)]],
    ['data on several lines', 'data: {\ndata: "a": 1\ndata: }\n\n', [event(1, { a: 1 }, '{\n"a": 1\n}')]],
    ['CRLF', 'data: 1\r\n\r\ndata: 2\r\n\r\n', [event(1, 1), event(2, 2)]],
    ['more blank lines than needed', '\n\n\ndata: 1\n\n\n\n', [event(1, 1)]],
    ['a last frame without its blank line', 'data: 1\n\ndata: 2', [event(1, 1), event(2, 2)]],
  ])('takes %s', async (_what, text, frames) => {
    expect(await decode(text)).toEqual(frames)
    expect(await decode(...Array.from(bytes(text), (byte) => Uint8Array.of(byte)))).toEqual(frames)
  })

  it('takes a character that is cut in two', async () => {
    const whole = bytes('data: "🎡"\n\n')
    expect(await decode(whole.slice(0, 9), whole.slice(9))).toEqual([event(1, '🎡')])
  })

  it.each(['[DONE]', '', '{"a":', '{}{}'])('reports data that is not JSON and reads on: %j', async (data) => {
    const frames = await decode(`data: 1\n\nid: r:2\ndata: ${data}\n\ndata: 3\n\n`)
    expect(frames).toEqual([
      event(1, 1),
      { kind: 'malformed', frame: 2, id: 'r:2', data, error: expect.any(Error) as unknown },
      event(3, 3),
    ])
    expect(frames[1]).toHaveProperty('error.code', 'INVALID_EVENT')
    expect(frames[1]).toHaveProperty('error.message', 'Frame 2 is not JSON.')
  })

  it('reports a stream that ends within a frame as a malformed one', async () => {
    expect(await decode('data: {"type":"RUN_')).toMatchObject([{ kind: 'malformed', frame: 1 }])
  })

  it('gives up on a frame that never ends, after the frames before it', async () => {
    const endless = stream(['data: 1\n\ndata: "', ...new Array<string>(11).fill('x'.repeat(1024 * 1024))])
    const frames = decodeSse(endless)
    expect(await frames.next()).toMatchObject({ value: { frame: 1 } })
    await expect(frames.next()).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      message: 'Frame 2 is too large.',
    })
  })

  it('lets go of the source when the reader stops', async () => {
    const source = stream(['data: 1\n\n', 'data: 2\n\n'])
    for await (const frame of decodeSse(source)) {
      expect(frame.frame).toBe(1)
      break
    }
    expect(await source.next()).toEqual({ done: true, value: undefined })
  })
})
