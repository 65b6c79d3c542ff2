import { parseSSEStream, transformHttpEventStream } from '@ag-ui/client'
import fc from 'fast-check'
import { from, lastValueFrom, toArray } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { anyEvent, cuts, eventsByType, split, text } from '../../../test/e2e/support-arbitraries.js'
import type { AgUiEvent } from '../events.js'
import { decodeSse, type SseFrame } from './sse-decode.js'
import { createSseEncoder, sseHeaders, sseHeartbeat } from './sse.js'

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
      { numRuns: 30 },
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
