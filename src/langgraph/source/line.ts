import { createFifo } from '../../core/fifo.js'
import type { GraphEvent } from '../graph-event.js'

export type Step = IteratorResult<GraphEvent, void>

export interface LineOptions {
  /** How many events may wait before whoever causes more has to wait. */
  readonly capacity: number
  /** What a reader gets when there are no more events. Called each time one asks. */
  readonly end: () => Promise<Step>
}

/** The way of events from a graph to the one who reads them, in order. */
export interface Line {
  /** Gives a promise if whoever has caused the event should wait. It never rejects. Events after the end are dropped. */
  put(event: GraphEvent): Promise<void> | undefined
  next(): Promise<Step>
  /** Ends the events after those that were put. */
  close(): void
  /** Ends them now: those not read yet are dropped, and nobody waits any more. */
  drop(): void
}

export function createLine(options: LineOptions): Line {
  return new GraphLine(options)
}

// Not a queue that is read by generators: each promise between a token and its reader costs as much as the rest together.
class GraphLine implements Line {
  readonly #options: LineOptions
  #events = createFifo<GraphEvent>()
  readonly #writers = createFifo<() => void>()
  readonly #readers = createFifo<(step: Step | Promise<Step>) => void>()
  #isClosed = false

  constructor(options: LineOptions) {
    this.#options = options
  }

  put(event: GraphEvent): Promise<void> | undefined {
    if (this.#isClosed) return undefined
    const reader = this.#readers.shift()
    if (reader) {
      reader.value({ done: false, value: event })
      return undefined
    }
    this.#events.push(event)
    if (this.#events.size <= this.#options.capacity) return undefined
    return new Promise((resolve) => this.#writers.push(resolve))
  }

  next(): Promise<Step> {
    const event = this.#events.shift()
    if (event) {
      this.#writers.shift()?.value()
      return Promise.resolve({ done: false, value: event.value })
    }
    if (this.#isClosed) return this.#options.end()
    return new Promise((resolve) => this.#readers.push(resolve))
  }

  close(): void {
    this.#isClosed = true
    for (let reader = this.#readers.shift(); reader; reader = this.#readers.shift())
      reader.value(this.#options.end())
  }

  drop(): void {
    this.#events = createFifo()
    for (let writer = this.#writers.shift(); writer; writer = this.#writers.shift()) writer.value()
    this.close()
  }
}
