import { Leaving } from './leaving.js'
import type { Sink } from './sink.js'

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
