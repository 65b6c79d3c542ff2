import type { ServerResponse } from 'node:http'

/** Where the bytes of one response go. */
export interface Sink {
  /** False when there is no room for more now: then wait for `drained`. */
  write(chunk: string | Uint8Array): boolean
  /** Resolves when there is room again, or the client is gone. */
  drained(): Promise<void>
  /** Ends the response as it should end. */
  end(): void
  /** Breaks the connection off: the last resort for a client that takes nothing. */
  destroy(): void
  /** Aborts when the client goes away before the end. */
  readonly gone: Departure
}

/** Tells of the client that goes away. Every AbortSignal is one, but takes a kilobyte, of every stream. */
export interface Departure {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** The departure of one client. */
export class Leaving implements Departure {
  aborted = false
  #listeners: readonly (() => void)[] = nobody

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = [...this.#listeners, listener]
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener)
  }

  /** The client is gone. */
  abort(): void {
    if (this.aborted) return
    this.aborted = true
    for (const listener of this.#listeners) listener()
  }
}

const nobody: readonly (() => void)[] = []

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

const highWaterMark = 16

/** A sink whose other end is a Web stream. `signal` is the request's. */
export function createWebSink(signal: AbortSignal): {
  readonly sink: Sink
  readonly body: ReadableStream<Uint8Array>
} {
  const gone = new Leaving()
  const encoder = new TextEncoder()
  let wake: () => void = () => undefined
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const leave = (): void => {
    signal.removeEventListener('abort', onAbort)
    gone.abort()
    wake()
  }
  const breakOff = (reason: unknown): void => {
    controller?.error(reason)
    leave()
  }
  const onAbort = (): void => breakOff(signal.reason)
  const body = new ReadableStream<Uint8Array>(
    {
      start: (given) => void (controller = given),
      pull: () => wake(),
      cancel: leave,
    },
    { highWaterMark },
  )
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  return {
    body,
    sink: {
      gone,
      write(chunk) {
        if (gone.aborted) return true
        controller?.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk)
        return (controller?.desiredSize ?? 0) > 0
      },
      drained: () =>
        new Promise((resolve) => {
          wake = resolve
          if (gone.aborted || (controller?.desiredSize ?? 0) > 0) resolve()
        }),
      end() {
        signal.removeEventListener('abort', onAbort)
        if (!gone.aborted) controller?.close()
      },
      destroy: () => breakOff(new Error('The client takes nothing.')),
    },
  }
}
