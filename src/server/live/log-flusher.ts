import type { Clock } from '../../core/clock.js'

/** Calls what is due for writing, all of it in one turn, so that a store can put it into one transaction. */
export interface Flusher {
  soon(feed: Flushed): void
}

/** What has something to write. */
interface Flushed {
  flush(): Promise<void>
}

const everyMs = 100

/** `onProblem` is told of what could not be written; it is tried again with the next write of that run. */
export function createFlusher(clock: Clock, onProblem: (error: unknown) => void): Flusher {
  let due = new Set<Flushed>()
  return {
    soon(feed) {
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
