import type { IncomingMessage } from 'node:http'
import { MillraceError } from '../../core/errors.js'

/**
 * Gives a request its body back when a parser in front of the server has read it: what the parser left at `request.body`,
 * as JSON. The limits of the server hold for it too.
 */
export function withParsedBody(request: Request, incoming: IncomingMessage): Request {
  const { method, url, signal } = request
  const takesBody = method === 'POST' || method === 'PATCH' || method === 'DELETE'
  if (!takesBody || !incoming.readableDidRead) return request
  const headers = new Headers(request.headers)
  // They describe what the parser has read: its length, and that it was compressed.
  for (const name of ['content-length', 'content-encoding']) headers.delete(name)
  if (isEmpty(incoming)) return new Request(url, { method, headers, signal })
  const body = new ReadableStream<Uint8Array>(
    {
      // On demand, so that a request that is refused without its body costs nothing. What this throws, the reader gets.
      pull(controller) {
        const bytes = encodeBody(incoming)
        if (bytes.byteLength > 0) controller.enqueue(bytes)
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return new Request(url, { method, headers, body, signal, duplex: 'half' })
}

interface ParsedRequest extends IncomingMessage {
  readonly body?: unknown
}

/** Some routes take a body and need none. */
function isEmpty({ body }: ParsedRequest): boolean {
  return body === '' || (body instanceof Uint8Array && body.byteLength === 0)
}

function encodeBody(incoming: ParsedRequest): Uint8Array {
  const { body } = incoming
  if (body instanceof Uint8Array) return body
  const text = typeof body === 'string' ? body : toJsonText(body)
  if (text !== undefined) return new TextEncoder().encode(text)
  const message =
    'The body was read before the server could read it. Mount the listener before body parsers, or put what they read at `request.body`.'
  throw new MillraceError('INTERNAL_ERROR', message, { expose: true })
}

function toJsonText(body: unknown): string | undefined {
  try {
    // Undefined for undefined.
    return JSON.stringify(body)
  } catch (cause) {
    const message = 'The body cannot be used: it is nested too deep, or a parser has made no JSON of it.'
    throw new MillraceError('INVALID_INPUT', message, { cause })
  }
}
