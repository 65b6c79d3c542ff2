import type { ServerResponse } from 'node:http'
import type { Sink } from './sink.js'

/** A sink that writes straight into a Node response: nothing is between the run and the socket. */
export function createNodeSink(response: ServerResponse): Sink {
  const gone = new AbortController()
  let wake: () => void = () => undefined
  response.on('close', () => {
    if (!response.writableFinished) gone.abort()
    wake()
  })
  let hasWritten = false
  // The head leaves with the first events when they are there at once, and alone when they are not.
  setImmediate(() => {
    if (!hasWritten && !response.destroyed) response.flushHeaders()
  })
  // It may have left while its request was looked at.
  if (response.destroyed) gone.abort()
  // A client that breaks off is not an error of ours; `close` follows.
  response.on('error', () => undefined)
  return {
    gone: gone.signal,
    write(chunk) {
      hasWritten = true
      return response.write(chunk)
    },
    drained: () =>
      new Promise((resolve) => {
        wake = resolve
        if (response.destroyed) resolve()
        else response.once('drain', resolve)
      }),
    end() {
      hasWritten = true
      response.end()
    },
    destroy: () => void response.destroy(),
  }
}
