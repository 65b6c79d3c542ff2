import type { Clock } from '../../core/clock.js'
import type { Sink } from './sink.js'

/** Keeps silent streams alive: one timer for all of them. */
export interface Heart {
  /** How many streams are open. */
  readonly size: number
  keep(sink: Sink, heartbeat: string | undefined): Beat
}

export interface Beat {
  /** Something was written: no need for a sign of life now. */
  wrote(): void
  stop(): void
}

export function createHeart(clock: Clock, everyMs: number): Heart {
  const streams = new Set<{ readonly sink: Sink; readonly heartbeat: string | undefined; isQuiet: boolean }>()
  let cancel: (() => void) | undefined

  const beat = (): void => {
    for (const stream of streams) {
      if (stream.isQuiet && stream.heartbeat !== undefined) stream.sink.write(stream.heartbeat)
      stream.isQuiet = true
    }
    cancel = clock.schedule(everyMs, beat)
  }

  return {
    get size() {
      return streams.size
    },
    keep(sink, heartbeat) {
      const stream = { sink, heartbeat, isQuiet: true }
      streams.add(stream)
      cancel ??= clock.schedule(everyMs, beat)
      return {
        wrote: () => void (stream.isQuiet = false),
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
