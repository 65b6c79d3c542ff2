import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { largeBodyBytes } from './request-rates.js'

/** Time for the client to take its answer: a connection that is closed with unread bytes loses it. */
const lingerMs = 1_000

/**
 * When a request is answered whose body was not read, leaves a large rest where it is and closes the connection a moment
 * later. Node would read it to the end, and reading what nobody wants costs as much as reading what somebody does.
 */
export function leaveUnread(request: IncomingMessage, response: ServerResponse): void {
  if (isSmall(request)) {
    response.once('finish', () => {
      if (!request.complete) request.resume()
    })
    return
  }
  const { socket } = request
  // Fills the buffer of the request. Without it Node takes the body for forgotten, and reads on.
  request.read(0)
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse
  response.writeHead = (...args: unknown[]) => {
    if (!request.complete) {
      // Node closes the connection after the answer, and the client sends nothing more on it.
      response.setHeader('connection', 'close')
      socket.destroySoon = () => linger(socket)
    }
    return writeHead(...args)
  }
}

function linger(socket: Socket): void {
  socket.end()
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

function isSmall({ headers, complete }: IncomingMessage): boolean {
  if (complete) return true
  const isChunked = headers['transfer-encoding'] !== undefined
  return !isChunked && Number(headers['content-length'] ?? 0) <= largeBodyBytes
}
