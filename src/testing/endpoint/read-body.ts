import type { Clock } from '../../core/clock.js'
import { describeError } from '../describe.js'
import { isRecord } from '../../core/is-record.js'
import type { FrameReader } from './frames.js'
import { untilAborted } from '../../core/abort.js'
import { Stop } from './stop.js'

/** Where the text goes, and how long to wait for it. */
export interface ReadBodyOptions {
  readonly clock: Clock
  readonly frames: FrameReader
  /** Aborting it ends the reading. It is aborted here when the body stays open after the terminal event. */
  readonly stop: AbortController
  readonly closeWithinMs: number
}

/** Feeds a body to the frame reader until the server closes it. Rejects when it breaks off, and on `stop`. */
export async function readBody(body: ReadableStream<Uint8Array>, options: ReadBodyOptions): Promise<void> {
  const { clock, frames, stop, closeWithinMs } = options
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let closing: (() => void) | undefined
  const expectClose = (): void => {
    closing ??= clock.schedule(closeWithinMs, () => {
      stop.abort(
        new Stop('stream-not-closed', `the body is open ${closeWithinMs} ms after the terminal event`),
      )
    })
  }
  const expectMore = (): void => {
    closing?.()
    closing = undefined
  }
  try {
    while (frames.isReadable) {
      const { done, value } = await untilAborted(reader.read().catch(connectionLost), stop.signal)
      if (done) break
      frames.feed(decoder.decode(value, { stream: true }))
      if (isTerminal(frames.events.at(-1))) expectClose()
      else expectMore()
    }
    frames.feed(decoder.decode())
    frames.end()
  } finally {
    expectMore()
    // Nothing more is wanted of the body, and a broken one cannot be cancelled: there is nobody to tell.
    reader.cancel().catch(() => undefined)
  }
}

function connectionLost(error: unknown): never {
  throw new Stop('connection-lost', `the body breaks off: ${describeError(error)}`)
}

function isTerminal(event: unknown): boolean {
  return isRecord(event) && (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR')
}
