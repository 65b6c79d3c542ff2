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

class Stream implements Beat {
  readonly sink: Sink
  readonly heartbeat: string | undefined
  isQuiet = true
  isWaiting = false
  readonly #forget: (stream: Stream) => void

  constructor(sink: Sink, heartbeat: string | undefined, forget: (stream: Stream) => void) {
    this.sink = sink
    this.heartbeat = heartbeat
    this.#forget = forget
  }

  wrote(): void {
    this.isQuiet = false
  }

  waits(isWaiting: boolean): void {
    this.isWaiting = isWaiting
  }

  stop(): void {
    this.#forget(this)
  }
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
  const forget = (stream: Stream): void => {
    streams.delete(stream)
    if (streams.size > 0) return
    cancel?.()
    cancel = undefined
  }

  return {
    get size() {
      return streams.size
    },
    keep(sink, heartbeat) {
      const stream = new Stream(sink, heartbeat, forget)
      streams.add(stream)
      cancel ??= clock.schedule(everyMs, beat)
      return stream
    },
  }
}
