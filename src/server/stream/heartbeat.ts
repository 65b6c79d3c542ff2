import type { Clock } from '../../core/clock.js'
import type { Sink } from './sink.js'

/** One open stream. Its writer sets the flags. */
export interface StreamHeartbeat {
  readonly sink: Sink
  readonly text: string | undefined
  /** False once something was written since the last beat. */
  isQuiet: boolean
  /** True while the client is behind: a heartbeat could land inside an event that is written in pieces. */
  isBlocked: boolean
}

/** Keeps quiet streams alive, with one timer for all of them. */
export class Heartbeats {
  readonly #clock: Clock
  readonly #everyMs: number
  readonly #streams = new Set<StreamHeartbeat>()
  #cancelTimer: (() => void) | undefined

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock
    this.#everyMs = everyMs
  }

  /** The number of open streams. */
  get size(): number {
    return this.#streams.size
  }

  /** Writes `text` to the sink whenever it is quiet, until `remove`. Formats without heartbeats pass undefined. */
  add(sink: Sink, text: string | undefined): StreamHeartbeat {
    const stream: StreamHeartbeat = { sink, text, isQuiet: true, isBlocked: false }
    this.#streams.add(stream)
    this.#cancelTimer ??= this.#clock.schedule(this.#everyMs, this.#beat)
    return stream
  }

  remove(stream: StreamHeartbeat): void {
    this.#streams.delete(stream)
    if (this.#streams.size > 0) return
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  readonly #beat = (): void => {
    for (const stream of this.#streams) {
      const { sink, text, isQuiet, isBlocked } = stream
      if (isQuiet && !isBlocked && text !== undefined) sink.write(text)
      stream.isQuiet = true
    }
    this.#cancelTimer = this.#clock.schedule(this.#everyMs, this.#beat)
  }
}
