import type { AgUiEvent } from '../protocol/index.js'
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
  let waiting: AgUiEvent[] = []
  let room: Promise<void> | undefined
  let last: AgUiEvent | undefined

  async function handOver(first: Promise<void>): Promise<void> {
    await first
    // More may be written while one of these is waited for.
    for (let next = waiting.shift(); next; next = waiting.shift()) await sink.send(next)
    room = undefined
  }

  return {
    put(event) {
      if (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') {
        last = event
      } else if (room) {
        waiting.push(event)
      } else {
        const wait = sink.send(event)
        if (wait) room = handOver(wait)
      }
    },
    get room() {
      return room
    },
    async end(outcome) {
      while (room) await room
      waiting = []
      if (last) await sink.end(last, outcome)
    },
  }
}
