import type { AgUiEvent } from '../../protocol/index.js'
import type { LogEntry } from '../../threads/store.js'

/** The newest events of a run, at hand for those who follow it. As JSON, written once for all who read it. */
export interface Tail {
  /** The number of the oldest that is at hand, and of the next to come. */
  readonly start: number
  readonly next: number
  /** Adds an event, and gives the length of its JSON. */
  push(event: AgUiEvent): number
  /** Puts another in the place of the last one. */
  replaceLast(event: AgUiEvent): void
  slice(from: number, to: number): readonly LogEntry[]
  /** Drops the oldest until the rest fits into so many bytes, but none from `until` on. */
  trim(bytes: number, until: number): void
}

export function createTail(firstSeq: number): Tail {
  let entries: LogEntry[] = []
  let start = firstSeq
  let size = 0

  const push = (event: AgUiEvent): number => {
    const json = JSON.stringify(event)
    entries.push({ seq: start + entries.length, json })
    size += json.length
    return json.length
  }

  return {
    get start() {
      return start
    },
    get next() {
      return start + entries.length
    },
    push,
    replaceLast(event) {
      entries.pop()
      push(event)
    },
    slice: (from, to) => entries.slice(from - start, to - start),
    trim(bytes, until) {
      let drop = 0
      for (; size > bytes && start + drop < until; drop++) size -= entries[drop]?.json.length ?? 0
      if (drop === 0) return
      entries = entries.slice(drop)
      start += drop
    },
  }
}
