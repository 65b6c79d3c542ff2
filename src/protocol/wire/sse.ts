import { MillraceError } from '../../core/errors.js'
import type { AgUiEvent } from '../events.js'
import { eventIdPrefix } from './event-id.js'

/** A comment that keeps proxies from closing a silent stream. AG-UI clients skip it. */
export const sseHeartbeat = ': keep-alive\n\n'

/** The headers of an event stream: neither cached nor held back by a proxy. */
export const sseHeaders: Readonly<Record<string, string>> = Object.freeze({
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
})

/** Writes one event as one SSE frame. `seq` is the event's number in the log of its run. */
export type SseEncoder = (event: AgUiEvent, seq: number) => string

/**
 * Makes the encoder of one run. Frames end with LF alone, since AG-UI clients do not read CRLF, and carry the
 * event's id so that a client can come back with `Last-Event-ID`. Members whose value is undefined are left out, as
 * JSON does; nothing is validated. Throws `ENCODING_ERROR` when an event holds what JSON cannot carry (a cycle, a
 * bigint).
 */
export function createSseEncoder(runId: string): SseEncoder {
  const prefix = `id: ${eventIdPrefix(runId)}`
  return function encodeSse(event, seq) {
    return `${prefix}${seq}\ndata: ${toJson(event)}\n\n`
  }
}

function toJson(event: AgUiEvent): string {
  try {
    return JSON.stringify(event)
  } catch (cause) {
    throw new MillraceError('ENCODING_ERROR', `A ${event.type} event cannot be written as JSON.`, { cause })
  }
}
