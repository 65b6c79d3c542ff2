import type { Clock } from '../../core/clock.js'
import type { FrameBatch, Framing } from './framing.js'
import type { Heartbeats, StreamHeartbeat } from './heartbeat.js'
import type { Sink } from './sink.js'

export interface WriteOptions {
  readonly sink: Sink
  readonly framing: Framing
  readonly heartbeats: Heartbeats
  readonly clock: Clock
  /** A client that takes nothing for this long is disconnected. */
  readonly stallMs: number
}

/** Why a stream ended: its source did, the client disconnected, or the client took nothing for too long. */
export type StreamEnd = 'end' | 'client' | 'stalled'

/**
 * Writes batches to a client no faster than it takes them: does not read the source while the client is behind.
 * Rejects when the source does.
 */
export async function writeWithBackPressure(
  source: AsyncIterable<FrameBatch> | Iterable<FrameBatch>,
  options: WriteOptions,
): Promise<StreamEnd> {
  const { sink, framing, heartbeats } = options
  const heartbeat = heartbeats.add(sink, framing.heartbeat)
  try {
    for await (const batch of source) {
      if (sink.signal.aborted) break
      const chunk = framing.frame(batch)
      for (let start = 0, end: number; start < chunk.length; start = end) {
        end = start + pieceLength < chunk.length ? pieceEnd(chunk, start) : chunk.length
        heartbeat.isQuiet = false
        const isTaken = sink.write(end - start === chunk.length ? chunk : chunk.slice(start, end))
        if (isTaken || (await isDrained(options, heartbeat))) continue
        sink.destroy()
        return 'stalled'
      }
    }
    if (sink.signal.aborted) return 'client'
    sink.end()
    return 'end'
  } finally {
    heartbeats.remove(heartbeat)
  }
}

/** Long chunks leave in pieces, so that a slow client differs from one that takes nothing. */
const pieceLength = 64 * 1024

/** Surrogate pairs stay together: half a character cannot be sent. */
function pieceEnd(chunk: string | Uint8Array, start: number): number {
  const end = start + pieceLength
  const last = typeof chunk === 'string' ? chunk.charCodeAt(end - 1) : 0
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end
}

/** Resolves to true when the client has caught up, to false when it took nothing for `stallMs`. */
async function isDrained(
  { sink, clock, stallMs }: WriteOptions,
  heartbeat: StreamHeartbeat,
): Promise<boolean> {
  heartbeat.isBlocked = true
  const hasRoom = await new Promise<boolean>((resolve) => {
    const cancel = clock.schedule(stallMs, () => resolve(false))
    void sink.drained().then(() => {
      cancel()
      resolve(true)
    })
  })
  heartbeat.isBlocked = false
  return hasRoom
}
