import type { ServerResponse } from 'node:http'
import { Leaving } from './leaving.js'
import type { Sink } from './sink.js'

/** A sink that writes straight into a Node response: nothing is between the run and the socket. */
export function createNodeSink(response: ServerResponse): Sink {
  return new NodeSink(response)
}

class NodeSink implements Sink {
  readonly #response: ServerResponse
  readonly gone = new Leaving()
  #hasWritten = false
  #wake: (() => void) | undefined

  constructor(response: ServerResponse) {
    this.#response = response
    response.on('close', () => {
      if (!response.writableFinished) this.gone.abort()
      this.#wake?.()
    })
    // The head leaves with the first events when they are there at once, and alone when they are not.
    setImmediate(() => {
      if (!this.#hasWritten && !response.destroyed) response.flushHeaders()
    })
    // It may have left while its request was looked at.
    if (response.destroyed) this.gone.abort()
    // A client that breaks off is not an error of ours; `close` follows.
    response.on('error', ignore)
  }

  write(chunk: string | Uint8Array): boolean {
    this.#hasWritten = true
    return this.#response.write(chunk)
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      if (this.#response.destroyed) resolve()
      else this.#response.once('drain', resolve)
    })
  }

  end(): void {
    this.#hasWritten = true
    this.#response.end()
  }

  destroy(): void {
    this.#response.destroy()
  }
}

function ignore(): void {
  // See above.
}
