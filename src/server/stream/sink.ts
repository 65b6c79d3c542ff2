import type { ServerResponse } from 'node:http'

/** Takes the bytes of one response. */
export interface Sink {
  /** Returns false when the client is behind: wait for `drained` before the next write. */
  write(chunk: string | Uint8Array): boolean
  /** Resolves when the client has caught up or disconnected. */
  drained(): Promise<void>
  /** Completes the response. */
  end(): void
  /** Breaks the connection. */
  destroy(): void
  /** Aborts when the client disconnects before the end. */
  readonly signal: DisconnectSignal
}

/** The part of an AbortSignal that streams need. A whole one would cost every stream a kilobyte. */
export interface DisconnectSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** Writes straight into a Node response: nothing stands between the run and the socket. */
export class NodeSink implements Sink {
  readonly #response: ServerResponse
  readonly signal = new Disconnect()
  #hasWritten = false
  #wake: (() => void) | undefined

  constructor(response: ServerResponse) {
    this.#response = response
    response.on('close', () => {
      if (!response.writableFinished) this.signal.abort()
      this.#wake?.()
    })
    // The headers leave with the first events if those come at once, and alone otherwise.
    setImmediate(() => {
      if (!this.#hasWritten && !response.destroyed) response.flushHeaders()
    })
    // The client may have disconnected while its request was checked.
    if (response.destroyed) this.signal.abort()
    // A client that breaks off is not our error, and `close` follows.
    response.on('error', ignoreError)
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

function ignoreError(): void {
  // See above.
}

/** The number of chunks a Web stream buffers before its client counts as behind. */
const highWaterMark = 16

/** Creates a sink that writes into the body of a Web response. `requestSignal` is the request's. */
export function createWebSink(requestSignal: AbortSignal): {
  readonly sink: Sink
  readonly body: ReadableStream<Uint8Array>
} {
  const signal = new Disconnect()
  const encoder = new TextEncoder()
  let wake: () => void = () => undefined
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const disconnect = (): void => {
    requestSignal.removeEventListener('abort', onAbort)
    signal.abort()
    wake()
  }
  const fail = (reason: unknown): void => {
    controller?.error(reason)
    disconnect()
  }
  const onAbort = (): void => fail(requestSignal.reason)
  const body = new ReadableStream<Uint8Array>(
    {
      start: (created) => void (controller = created),
      pull: () => wake(),
      cancel: disconnect,
    },
    { highWaterMark },
  )
  requestSignal.addEventListener('abort', onAbort)
  if (requestSignal.aborted) onAbort()
  return {
    body,
    sink: {
      signal,
      write(chunk) {
        if (signal.aborted) return true
        controller?.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk)
        return (controller?.desiredSize ?? 0) > 0
      },
      drained: () =>
        new Promise((resolve) => {
          wake = resolve
          if (signal.aborted || (controller?.desiredSize ?? 0) > 0) resolve()
        }),
      end() {
        requestSignal.removeEventListener('abort', onAbort)
        if (!signal.aborted) controller?.close()
      },
      destroy: () => fail(new Error('The client takes nothing.')),
    },
  }
}

class Disconnect implements DisconnectSignal {
  aborted = false
  #listeners: readonly (() => void)[] = noListeners

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = [...this.#listeners, listener]
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener)
  }

  abort(): void {
    if (this.aborted) return
    this.aborted = true
    for (const listener of this.#listeners) listener()
  }
}

const noListeners: readonly (() => void)[] = []
