import { createQueue } from '../../core/queue.js'
import type { GraphEvent } from '../graph-event.js'

/** The way of events from the graph to the reader, and of an abort from the reader to the graph. */
export interface Line {
  readonly events: AsyncIterable<GraphEvent>
  /** Gives a promise if whoever has caused the event should wait. It never rejects. */
  readonly put: (event: GraphEvent) => Promise<unknown> | undefined
  /** Ends the events after those that were put. */
  readonly close: () => void
  /** What stops the graph. */
  readonly signal: AbortSignal
}

/**
 * Makes a line that holds `capacity` events. When `stop` aborts, whoever puts an event waits until the graph knows of
 * it; from then on nobody waits, and events are dropped.
 */
export function createLine(capacity: number, stop: AbortSignal): Line {
  const queue = createQueue<GraphEvent>({ capacity })
  const halt = new AbortController()
  let halted: Promise<void> | undefined

  // Not at once: a graph that is aborted just when it hands out a chunk never tells when it has stopped. It does that
  // within a turn of the event loop.
  const stopGraph = (): void => {
    halted = new Promise((resolve) => {
      setImmediate(() => {
        halt.abort(stop.reason)
        void queue[Symbol.asyncIterator]().return()
        resolve()
      })
    })
  }
  stop.addEventListener('abort', stopGraph, { once: true })

  return {
    events: queue,
    put: (event) => halted ?? (queue.offer(event) ? undefined : queue.push(event)),
    close: () => queue.close(),
    signal: halt.signal,
  }
}
