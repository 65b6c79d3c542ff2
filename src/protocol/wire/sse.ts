import { createParser, type EventSourceMessage, type ParseError } from 'eventsource-parser'
import { MillraceError } from '../../core/errors.js'
import type { AgUiEvent, DecodedFrame } from '../contract.js'

/** A comment that keeps proxies from closing a silent stream. AG-UI clients skip it. */
export const sseHeartbeat = ': keep-alive\n\n'

/** The headers of an event stream: proxies neither cache nor buffer it. */
export const sseHeaders: Readonly<Record<string, string>> = Object.freeze({
  'content-type': 'text/event-stream',
  // Middleware and proxies that compress would hold events back until a block is full.
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
})

/** Writes one event as one SSE frame. `seq` is the event's number in the log of its run. */
export type SseEncoder = (event: AgUiEvent, seq: number) => string

/**
 * Makes the encoder of one run. Frames end with LF alone, since AG-UI clients do not read CRLF, and carry the
 * event's id so that a client can reconnect with `Last-Event-ID`. Members whose value is undefined are left out, as
 * JSON does; nothing is validated. Throws `ENCODING_ERROR` when an event holds what JSON cannot carry (a cycle, a
 * bigint).
 */
export function createSseEncoder(runId: string): SseEncoder {
  const prefix = `id: ${eventIdPrefix(runId)}`
  return function encodeSse(event, seq) {
    return `${prefix}${seq}\ndata: ${encodeJson(event)}\n\n`
  }
}

function encodeJson(event: AgUiEvent): string {
  try {
    return JSON.stringify(event)
  } catch (cause) {
    throw new MillraceError('ENCODING_ERROR', `A ${event.type} event cannot be written as JSON.`, { cause })
  }
}

/** A frame of an SSE stream, with its `id:` line if it had one and its data as it arrived. */
export type SseFrame = DecodedFrame & { readonly id?: string; readonly data: string }

// The most that AG-UI clients buffer for one frame.
const maxBuffered = 10 * 1024 * 1024

/**
 * Reads an SSE stream of JSON events. Chunks may end anywhere, also within a character. Comments and unknown fields
 * are skipped, and a last frame without its blank line is still read, as AG-UI clients do. Data that is not JSON
 * comes out as a `malformed` frame, and reading continues.
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
    for (const message of messages.splice(0)) yield toSseFrame(message, ++frame)
    const [cause] = failures
    if (cause) throw new MillraceError('INVALID_EVENT', `Frame ${frame + 1} is too large.`, { cause })
  }

  const decoder = new TextDecoder()
  for await (const chunk of chunks) yield* feed(decoder.decode(chunk, { stream: true }))
  yield* feed(`${decoder.decode()}\n\n`)
}

function toSseFrame({ id, data }: EventSourceMessage, frame: number): SseFrame {
  const base = id === undefined ? { frame, data } : { frame, data, id }
  try {
    return { ...base, kind: 'event', event: JSON.parse(data) as unknown }
  } catch (cause) {
    const error = new MillraceError('INVALID_EVENT', `Frame ${frame} is not JSON.`, { cause })
    return { ...base, kind: 'malformed', error }
  }
}

/** The position of an event: its run, and its number in that run's log. */
export interface EventPosition {
  readonly runId: string
  readonly seq: number
  /**
   * For a stream that does not have the order of the log: its reader has all events up to this number, and those that come
   * before the event in the order of the stream.
   */
  readonly after?: number
}

// `encodeURIComponent` throws on half of a surrogate pair, which a run id from JSON may hold.
const loneSurrogates = /\p{Surrogate}/gu

/** The run's part of its event ids, up to and including the colon. No byte of a run id can break the SSE framing. */
export function eventIdPrefix(runId: string): string {
  return `${encodeURIComponent(runId.replace(loneSurrogates, '\ufffd'))}:`
}

/**
 * The id of an event as it stands in an SSE `id:` line and comes back as `Last-Event-ID`: `<run>:<seq>`, or `<run>:<after>~<seq>`
 * in a stream with an order of its own.
 */
export function formatEventId({ runId, seq, after }: EventPosition): string {
  return `${eventIdPrefix(runId)}${after === undefined ? seq : `${after}~${seq}`}`
}

/** Reads an event id. Whatever `formatEventId` cannot have written yields undefined. */
export function parseEventId(id: string): EventPosition | undefined {
  const colon = id.lastIndexOf(':')
  const runId = decodeUriPart(id.slice(0, Math.max(colon, 0)))
  const [, first, second] = /^(?:(-1|\d+)~)?(\d+)$/.exec(id.slice(colon + 1)) ?? []
  const seq = Number(second)
  if (runId === undefined || !Number.isSafeInteger(seq)) return undefined
  const position = first === undefined ? { runId, seq } : { runId, seq, after: Number(first) }
  const isInOrder = position.after === undefined || position.after < seq
  return isInOrder && formatEventId(position) === id ? position : undefined
}

function decodeUriPart(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
