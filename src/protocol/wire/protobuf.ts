import type { BaseEvent } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import type { AgUiEvent, DecodedFrame, WireFormat } from '../contract.js'

/** Must stand alone in `Content-Type`: with a parameter after it AG-UI clients read the stream as SSE. */
export const protobufMediaType = 'application/vnd.ag-ui.event+proto'

/** The largest frame AG-UI clients accept, its length prefix included. */
export const maxProtobufFrame = 10 * 1024 * 1024

const prefixLength = 4

/** Writes one event as one frame: its length as a big-endian uint32, then the message. */
export type ProtobufEncoder = (event: AgUiEvent) => Uint8Array

/**
 * Loads the protobuf codec and makes an encoder. The codec is loaded here and not on import because few requests
 * ask for it and it is slow to load.
 *
 * Protobuf cannot tell an empty list from none, and an echoed input comes back with `resume: []`. In open data,
 * numbers are doubles as in JSON, and members that are undefined or named `__proto__` are lost.
 *
 * The encoder throws `INVALID_EVENT` for an unknown event type and for a frame above `maxProtobufFrame`, and
 * `ENCODING_ERROR` for a value protobuf cannot carry.
 */
export async function createProtobufEncoder(): Promise<ProtobufEncoder> {
  const { encode } = await import('@ag-ui/proto')
  return function encodeProtobuf(event) {
    const message = encodeMessage(event, encode)
    const length = prefixLength + message.length
    if (length === prefixLength) {
      throw new MillraceError('INVALID_EVENT', `There is no protobuf message for ${event.type} events.`)
    }
    if (length > maxProtobufFrame) throw frameTooLarge(`A ${event.type} event`)
    const frame = new Uint8Array(length)
    new DataView(frame.buffer).setUint32(0, message.length)
    frame.set(message, prefixLength)
    return frame
  }
}

function encodeMessage(event: AgUiEvent, encode: (event: BaseEvent) => Uint8Array): Uint8Array {
  try {
    // The codec declares the enum where we allow its strings; at run time they are the same.
    return encode(event as unknown as BaseEvent)
  } catch (cause) {
    throw new MillraceError('ENCODING_ERROR', `A ${event.type} event cannot be written as protobuf.`, {
      cause,
    })
  }
}

/**
 * Reads a stream of protobuf frames. Chunks may end anywhere. A frame that cannot be decoded, or that holds an event
 * type this version does not know, comes out as `malformed`, and reading continues.
 *
 * Throws `INVALID_EVENT` when a frame is above `maxProtobufFrame` or the stream ends within one.
 */
export async function* decodeProtobuf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<DecodedFrame> {
  const { decode } = await import('@ag-ui/proto')
  let frame = 0
  for await (const message of readProtobufMessages(chunks))
    yield toProtobufFrame(message, { frame: ++frame, decode })
}

function toProtobufFrame(
  message: Uint8Array,
  { frame, decode }: { frame: number; decode: (message: Uint8Array) => unknown },
): DecodedFrame {
  try {
    return { kind: 'event', frame, event: decode(message) }
  } catch (cause) {
    const error = new MillraceError('INVALID_EVENT', `Frame ${frame} cannot be decoded.`, { cause })
    return { kind: 'malformed', frame, error }
  }
}

async function* readProtobufMessages(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let unread: Uint8Array[] = []
  let size = 0
  let needed = prefixLength
  for await (const chunk of chunks) {
    unread.push(chunk)
    size += chunk.length
    // Joining only when a frame is complete keeps the cost of a large one linear in its size.
    if (size < needed) continue
    let rest = joinChunks(unread, size)
    needed = frameLength(rest)
    while (rest.length >= needed) {
      yield rest.slice(prefixLength, needed)
      rest = rest.subarray(needed)
      needed = frameLength(rest)
    }
    unread = [rest]
    size = rest.length
  }
  if (size > 0) throw new MillraceError('INVALID_EVENT', 'The protobuf stream ended within a frame.')
}

/** How many bytes the first frame takes, or the prefix alone while that is incomplete. */
function frameLength(bytes: Uint8Array): number {
  if (bytes.length < prefixLength) return prefixLength
  const length = prefixLength + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  if (length > maxProtobufFrame) throw frameTooLarge('A frame')
  return length
}

function joinChunks(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const joined = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    joined.set(chunk, offset)
    offset += chunk.length
  }
  return joined
}

function frameTooLarge(what: string): MillraceError {
  return new MillraceError('INVALID_EVENT', `${what} is above ${maxProtobufFrame} bytes of protobuf.`)
}

const qualityValue = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/

/**
 * Chooses the encoding of an event stream. Protobuf only when the Accept header names its media type: a wildcard is
 * what any HTTP client sends, and says nothing about reading it. When both formats are named the higher quality
 * wins, and protobuf at equal quality.
 */
export function negotiate(accept: string | null | undefined): WireFormat {
  if (!accept?.toLowerCase().includes(protobufMediaType)) return 'sse'
  const qualities = accept.split(',').map(parseRange)
  const best = (type: string): number =>
    Math.max(0, ...qualities.filter((range) => range.type === type).map((range) => range.quality))
  const protobuf = best(protobufMediaType)
  return protobuf > 0 && protobuf >= best('text/event-stream') ? 'protobuf' : 'sse'
}

function parseRange(range: string): { type: string; quality: number } {
  const [type = '', ...parameters] = range.split(';').map((token) => token.trim().toLowerCase())
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
  // A range whose quality cannot be read counts as not named.
  return { type, quality: qualityValue.test(quality) ? Number(quality) : 0 }
}
