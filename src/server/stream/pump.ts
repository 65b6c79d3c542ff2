import { delay } from '../../core/abort.js'
import type { Clock } from '../../core/clock.js'
import type { Batch } from './batch.js'
import type { Framing } from './framing.js'
import type { Heart } from './heart.js'
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
export async function pump(source: AsyncIterable<Batch>, options: PumpOptions): Promise<StreamEnd> {
  const { sink, framing, heart } = options
  const beat = heart.keep(sink, framing.heartbeat)
  try {
    for await (const batch of source) {
      if (sink.gone.aborted) break
      const chunk = framing.frame(batch)
      if (chunk.length === 0) continue
      beat.wrote()
      if (sink.write(chunk) || (await isDrained(options))) continue
      sink.destroy()
      return 'stalled'
    }
    if (sink.gone.aborted) return 'client'
    sink.end()
    return 'end'
  } finally {
    beat.stop()
  }
}

async function isDrained({ sink, clock, stallMs }: PumpOptions): Promise<boolean> {
  const over = new AbortController()
  try {
    const stalled = delay(stallMs, { clock, signal: over.signal }).then(
      () => false,
      () => true,
    )
    return await Promise.race([sink.drained().then(() => true), stalled])
  } finally {
    over.abort()
  }
}
