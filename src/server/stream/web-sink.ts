import type { Sink } from './sink.js'

const highWaterMark = 16

/** A sink whose other end is a Web stream. `signal` is the request's. */
export function createWebSink(signal: AbortSignal): {
  readonly sink: Sink
  readonly body: ReadableStream<Uint8Array>
} {
  const gone = new AbortController()
  const encoder = new TextEncoder()
  let wake: () => void = () => undefined
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const leave = (): void => {
    signal.removeEventListener('abort', leave)
    gone.abort()
    wake()
  }
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
  const body = new ReadableStream<Uint8Array>(
    {
      start: (given) => void (controller = given),
      pull: () => wake(),
      cancel: leave,
    },
    { highWaterMark },
  )
  return {
    body,
    sink: {
      gone: gone.signal,
      write(chunk) {
        if (gone.signal.aborted) return true
        controller?.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk)
        return (controller?.desiredSize ?? 0) > 0
      },
      drained: () =>
        new Promise((resolve) => {
          wake = resolve
          if (gone.signal.aborted || (controller?.desiredSize ?? 0) > 0) resolve()
        }),
      end() {
        signal.removeEventListener('abort', leave)
        if (!gone.signal.aborted) controller?.close()
      },
      destroy() {
        controller?.error(new Error('The client takes nothing.'))
        leave()
      },
    },
  }
}
