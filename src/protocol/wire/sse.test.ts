import { parseSSEStream, transformHttpEventStream } from '@ag-ui/client'
import fc from 'fast-check'
import { from, lastValueFrom, toArray } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { anyEvent, cuts, eventsByType, split, text } from '../../../test/e2e/support-arbitraries.js'
import type { AgUiEvent } from '../contract.js'
import {
  createSseEncoder,
  decodeSse,
  formatEventId,
  parseEventId,
  sseHeaders,
  sseHeartbeat,
  type SseFrame,
} from './sse.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

const event: AgUiEvent = { type: 'CUSTOM', name: 'x', value: null }

describe('the SSE encoder', () => {
  it('writes the id and the event in one frame', () => {
    const encode = createSseEncoder('run 1')
    expect(encode(event, 0)).toBe('id: run%201:0\ndata: {"type":"CUSTOM","name":"x","value":null}\n\n')
    expect(encode(event, 17)).toMatch(/^id: run%201:17\n/)
  })

  it('lets nothing in a run id or an event break the frame', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('\r', '\n', '\u2028', ':', '\ud800', 'a') }), (odd) => {
        const frame = createSseEncoder(odd)({ type: 'CUSTOM', name: odd, value: odd }, 3)
        expect(frame).toMatch(/^id: [^\r\n]*:3\ndata: [^\r\n]*\n\n$/)
      }),
    )
  })

  it('names the event that JSON cannot carry', () => {
    const encode = createSseEncoder('r')
    expect(() => encode({ type: 'CUSTOM', name: 'x', value: 1n }, 0)).toThrow(
      expect.objectContaining({
        code: 'ENCODING_ERROR',
        message: 'A CUSTOM event cannot be written as JSON.',
        cause: expect.any(TypeError) as unknown,
      }),
    )
  })
})

describe('an SSE stream', () => {
  it.each([...eventsByType])('carries any %s event, cut anywhere', async (_type, arbitrary) => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbitrary, { maxLength: 3 }), text, cuts, async (events, runId, places) => {
        const bytes = new TextEncoder().encode(encodeAll(events, runId))
        const frames = await decodeAll(split(bytes, places))
        expect(frames.map((frame) => frame.kind === 'event' && frame.event)).toEqual(events)
        expect(frames.map((frame) => frame.frame)).toEqual(events.map((_, index) => index + 1))
      }),
      { numRuns: propertyRuns(30) },
    )
  })

  it('reads the same in the AG-UI client', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyEvent, { maxLength: 5 }), cuts, async (events, places) => {
        const bytes = new TextEncoder().encode(encodeAll(events, 'r'))
        const chunks = split(bytes, places)
        expect(await readWith(parseSSEStream, chunks)).toEqual(events)
        expect(await readWith(transformHttpEventStream, chunks)).toEqual(events)
      }),
    )
  })
})

function encodeAll(events: readonly AgUiEvent[], runId: string): string {
  const encode = createSseEncoder(runId)
  return events.map((item, seq) => `${sseHeartbeat}${encode(item, seq)}`).join('')
}

type ClientReader = typeof parseSSEStream | typeof transformHttpEventStream

function readWith(reader: ClientReader, chunks: readonly Uint8Array[]): Promise<unknown[]> {
  // The client tells HTTP events apart by an enum that it does not export.
  const source = from(httpEvents(chunks)) as unknown as Parameters<ClientReader>[0]
  return lastValueFrom(reader(source).pipe(toArray()))
}

/** What the client makes of a response. Asynchronous, because its readers drop what comes before a subscriber. */
async function* httpEvents(chunks: readonly Uint8Array[]): AsyncGenerator {
  yield await Promise.resolve({ type: 'headers', status: 200, headers: new Headers(sseHeaders) })
  for (const data of chunks) yield { type: 'data', data }
}

async function decodeAll(chunks: readonly Uint8Array[]): Promise<SseFrame[]> {
  const frames: SseFrame[] = []
  for await (const frame of decodeSse(stream(chunks))) frames.push(frame)
  return frames
}

async function* stream(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(chunk)
}

describe('decodeSse', () => {
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

    it.each(['[DONE]', '', '{"a":', '{}{}'])(
      'reports data that is not JSON and reads on: %j',
      async (data) => {
        const frames = await decode(`data: 1\n\nid: r:2\ndata: ${data}\n\ndata: 3\n\n`)
        expect(frames).toEqual([
          event(1, 1),
          { kind: 'malformed', frame: 2, id: 'r:2', data, error: expect.any(Error) as unknown },
          event(3, 3),
        ])
        expect(frames[1]).toHaveProperty('error.code', 'INVALID_EVENT')
        expect(frames[1]).toHaveProperty('error.message', 'Frame 2 is not JSON.')
      },
    )

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
})

describe('event ids', () => {
  describe('an event id', () => {
    it('leads back to its run and number', () => {
      fc.assert(
        fc.property(text, fc.maxSafeNat(), (runId, seq) => {
          expect(parseEventId(formatEventId({ runId, seq }))).toEqual({ runId, seq })
          const unordered = { runId, seq, after: seq - 1 }
          expect(parseEventId(formatEventId(unordered))).toEqual(unordered)
        }),
      )
    })

    it('holds no character that HTTP or SSE could stumble over', () => {
      fc.assert(
        fc.property(
          fc.string({ unit: fc.integer({ max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
          (runId) => {
            expect(formatEventId({ runId, seq: 0 })).toMatch(/^[\x21-\x7e]+$/)
          },
        ),
      )
    })

    it.each([
      '',
      ':',
      'r',
      '5',
      'r:',
      'r:x',
      'r:-1',
      'r:1.5',
      'r:01',
      'r: 1',
      'r:1e3',
      'r:9007199254740993',
      'r:5~5',
      'r:-2~5',
      'r:4~',
      'r:~4',
      'r:3~04',
      'r:1~2~3',
      '%:1',
      'a b:1',
      'a:b:1',
      'r:1\n',
    ])('is malformed: %j', (id) => {
      expect(parseEventId(id)).toBeUndefined()
    })

    it('is read or refused, whatever text it is', () => {
      fc.assert(
        fc.property(fc.string({ unit: fc.constantFrom('%', ':', '1', 'F', 'a', '\ud800') }), (id) => {
          const position = parseEventId(id)
          if (position) expect(formatEventId(position)).toBe(id)
        }),
      )
    })
  })
})
