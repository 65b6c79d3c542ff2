import type { AgUiEvent } from '../../protocol/index.js'
import type { RunSink } from './active-run.js'
import type { Outcome } from './run.js'

/** Hands the events of a run on as they are written, and holds back what the taker has no room for, and the last one. */
export interface Outbox {
  put(event: AgUiEvent): void
  /** Set while there is something to wait for before the run goes on. */
  readonly room: Promise<void> | undefined
  /** Hands over the rest and the last event. */
  end(outcome: Outcome): Promise<void>
}

export function createOutbox(sink: RunSink): Outbox {
  return new SinkOutbox(sink)
}

// A class: an accessor in an object literal would give every run an object shape of its own.
class SinkOutbox implements Outbox {
  readonly #sink: RunSink
  readonly #waiting: AgUiEvent[] = []
  #last: AgUiEvent | undefined
  room: Promise<void> | undefined

  constructor(sink: RunSink) {
    this.#sink = sink
  }

  put(event: AgUiEvent): void {
    if (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') {
      this.#last = event
    } else if (this.room) {
      this.#waiting.push(event)
    } else {
      const wait = this.#sink.send(event)
      if (wait) this.room = this.#handOver(wait)
    }
  }

  async end(outcome: Outcome): Promise<void> {
    while (this.room) await this.room
    if (this.#last) await this.#sink.end(this.#last, outcome)
  }

  async #handOver(first: Promise<void>): Promise<void> {
    await first
    // More may be written while one of these is waited for.
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) await this.#sink.send(next)
    this.room = undefined
  }
}
