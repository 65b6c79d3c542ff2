import type { Clock } from '../../core/clock.js'

/** Flushes the feeds of all runs in one tick, so that a store can write their events in one transaction. */
export interface LogFlusher {
  flushSoon(feed: Flushable): void
}

interface Flushable {
  flush(): Promise<void>
}

const everyMs = 100

/** `onProblem` gets the error of a flush that failed. The next flush of that run tries again. */
export function createLogFlusher(clock: Clock, onProblem: (error: unknown) => void): LogFlusher {
  let due = new Set<Flushable>()
  return {
    flushSoon(feed) {
      if (due.size === 0) {
        clock.schedule(everyMs, () => {
          const now = due
          due = new Set()
          for (const one of now) one.flush().catch(onProblem)
        })
      }
      due.add(feed)
    },
  }
}
