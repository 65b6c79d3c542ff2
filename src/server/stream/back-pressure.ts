import type { Clock } from '../../core/clock.js'
import type { Batch, Framing } from './framing.js'
import type { Heart } from './heartbeat.js'
import type { Sink } from './sink.js'

export interface PumpOptions {
  readonly sink: Sink
  readonly framing: Framing
  readonly heart: Heart
  readonly clock: Clock
  readonly stallMs: number
}

export type StreamEnd = 'end' | 'client' | 'stalled'

/** Writes batches to a client as fast as it takes them, until the end. Says how it ended; rejects when the source does. */
export async function pump(
  source: AsyncIterable<Batch> | Iterable<Batch>,
  options: PumpOptions,
): Promise<StreamEnd> {
  const { sink, framing, heart } = options
  const beat = heart.keep(sink, framing.heartbeat)
  try {
    for await (const batch of source) {
      if (sink.gone.aborted) break
      for (const chunk of pieces(framing.frame(batch))) {
        beat.wrote()
        if (sink.write(chunk)) continue
        beat.waits(true)
        const hasRoom = await isDrained(options)
        beat.waits(false)
        if (hasRoom) continue
        sink.destroy()
        return 'stalled'
      }
    }
    if (sink.gone.aborted) return 'client'
    sink.end()
    return 'end'
  } finally {
    beat.stop()
  }
}

const pieceLength = 64 * 1024

/** A client that takes its time with much is not one that takes nothing: so it is given it piece by piece. */
function* pieces(chunk: string | Uint8Array): Generator<string | Uint8Array> {
  for (let start = 0; start < chunk.length;) {
    let end = start + pieceLength
    // Half of a character cannot be sent.
    if (typeof chunk === 'string' && end < chunk.length && isHighSurrogate(chunk.charCodeAt(end - 1))) end--
    yield start === 0 && end >= chunk.length ? chunk : chunk.slice(start, end)
    start = end
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

function isDrained({ sink, clock, stallMs }: PumpOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(stallMs, () => resolve(false))
    void sink.drained().then(() => {
      cancel()
      resolve(true)
    })
  })
}
