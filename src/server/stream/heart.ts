import type { Clock } from '../../core/clock.js'
import type { Sink } from './sink.js'

/** Keeps silent streams alive: one timer for all of them. */
export interface Heart {
  /** How many streams are open. */
  readonly size: number
  keep(sink: Sink, heartbeat: string | undefined): Beat
}

interface Beat {
  /** Something was written: no need for a sign of life now. */
  wrote(): void
  /** The client has no room: it needs no sign of life, and one could come within an event that is sent in pieces. */
  waits(isWaiting: boolean): void
  stop(): void
}

interface Stream {
  readonly sink: Sink
  readonly heartbeat: string | undefined
  isQuiet: boolean
  isWaiting: boolean
}

export function createHeart(clock: Clock, everyMs: number): Heart {
  const streams = new Set<Stream>()
  let cancel: (() => void) | undefined

  const beat = (): void => {
    for (const stream of streams) {
      const { sink, heartbeat, isQuiet, isWaiting } = stream
      if (isQuiet && !isWaiting && heartbeat !== undefined) sink.write(heartbeat)
      stream.isQuiet = true
    }
    cancel = clock.schedule(everyMs, beat)
  }

  return {
    get size() {
      return streams.size
    },
    keep(sink, heartbeat) {
      const stream: Stream = { sink, heartbeat, isQuiet: true, isWaiting: false }
      streams.add(stream)
      cancel ??= clock.schedule(everyMs, beat)
      return {
        wrote: () => void (stream.isQuiet = false),
        waits: (isWaiting) => void (stream.isWaiting = isWaiting),
        stop() {
          streams.delete(stream)
          if (streams.size > 0) return
          cancel?.()
          cancel = undefined
        },
      }
    },
  }
}
