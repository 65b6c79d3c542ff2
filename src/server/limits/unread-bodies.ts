import type { IncomingMessage, ServerResponse } from 'node:http'
import { largeBodyBytes } from './request-rates.js'

/** Time for the client to take its answer: a connection that is closed with unread bytes loses it. */
const lingerMs = 1_000

/**
 * After an answer to a request whose body was not read, leaves a large rest where it is and closes the connection a moment
 * later. Node would read it to the end, and reading what nobody wants costs as much as reading what somebody does.
 */
export function leaveUnread(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  // Fills the buffer of the request. Without it Node takes the body for forgotten, and reads on.
  if (!isSmall(request)) request.read(0)
  response.once('finish', () => {
    if (request.complete) return
    if (isSmall(request)) request.resume()
    else setTimeout(() => socket.destroySoon(), lingerMs).unref()
  })
}

function isSmall({ headers, complete }: IncomingMessage): boolean {
  if (complete) return true
  const length = headers['content-length']
  const isChunked = headers['transfer-encoding'] !== undefined
  return !isChunked && Number(length ?? 0) <= largeBodyBytes
}
