import { createParser, type EventSourceMessage, type ParseError } from 'eventsource-parser'

import { MillraceError } from '../../core/errors.js'
import type { DecodedFrame } from './decoded-frame.js'

/** A frame of an SSE stream, with its `id:` line if it had one and its data as it arrived. */
export type SseFrame = DecodedFrame & { readonly id?: string; readonly data: string }

// What AG-UI clients hold back for one frame at most.
const maxBuffered = 10 * 1024 * 1024

/**
 * Reads an SSE stream of JSON events. Chunks may end anywhere, also within a character. Comments and unknown fields
 * are skipped, and a last frame without its blank line is still read, as AG-UI clients do. Data that is not JSON
 * comes out as a `malformed` frame, and reading goes on.
 *
 * Throws `INVALID_EVENT` when a frame grows beyond 10 Mi characters.
 */
export async function* decodeSse(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<SseFrame> {
  const messages: EventSourceMessage[] = []
  const failures: ParseError[] = []
  const parser = createParser({
    maxBufferSize: maxBuffered,
    onEvent: (message) => messages.push(message),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') failures.push(error)
    },
  })
  let frame = 0
  function* feed(text: string): Generator<SseFrame> {
    parser.feed(text)
    for (const message of messages.splice(0)) yield toFrame(message, ++frame)
    const [cause] = failures
    if (cause) throw new MillraceError('INVALID_EVENT', `Frame ${frame + 1} is too large.`, { cause })
  }

  const decoder = new TextDecoder()
  for await (const chunk of chunks) yield* feed(decoder.decode(chunk, { stream: true }))
  yield* feed(`${decoder.decode()}\n\n`)
}

function toFrame({ id, data }: EventSourceMessage, frame: number): SseFrame {
  const base = id === undefined ? { frame, data } : { frame, data, id }
  try {
    return { ...base, kind: 'event', event: JSON.parse(data) as unknown }
  } catch (cause) {
    const error = new MillraceError('INVALID_EVENT', `Frame ${frame} is not JSON.`, { cause })
    return { ...base, kind: 'malformed', error }
  }
}
