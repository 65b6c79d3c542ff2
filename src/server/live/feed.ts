import { MillraceError } from '../../core/errors.js'
import type { AgUiEvent } from '../../protocol/index.js'
import type { LogEntry } from '../../threads/store.js'
import { createBell } from './bell.js'

/** An event of a run, numbered, with its JSON written once for all who read it. */
export interface FeedEntry extends LogEntry {
  readonly event: AgUiEvent
}

/** An entry that may come from the log, where only its JSON is. */
export type Entry = LogEntry & { readonly event?: AgUiEvent }

export interface FeedOptions {
  readonly firstSeq: number
  /** Writes events to the log. */
  readonly append: (entries: readonly FeedEntry[]) => Promise<void>
  /** Reads events from the log. */
  readonly read: (after: number, limit: number) => Promise<readonly LogEntry[]>
  /** Asks for a call of `flush`, not at once but soon. */
  readonly flushSoon: () => void
  /** How much is kept at hand for readers that are behind. */
  readonly bufferBytes: number
}

/**
 * The events of one run on their way out: numbered, shown to all who follow, written to the log in batches. Nobody who
 * follows holds the run back: who is slow reads later, from memory or from the log, and gets the same events.
 */
export interface Feed {
  readonly nextSeq: number
  readonly isClosed: boolean
  /** Shows an event. Gives a promise when it is time to let others have a turn. */
  push(event: AgUiEvent): Promise<void> | undefined
  /** Shows an event when it, and all before it, are safe in the log. */
  pushSafely(event: AgUiEvent): Promise<void>
  /** Takes the last event without showing it, and gives all that the log does not have yet. */
  seal(event: AgUiEvent): Promise<readonly FeedEntry[]>
  /** Shows what `seal` has taken, and ends. `instead` takes the place of the last event. */
  close(instead?: AgUiEvent): void
  /** Writes to the log what it does not have yet. */
  flush(): Promise<void>
  /** The events after a number, in batches, until the end. */
  follow(after: number, signal: AbortSignal): AsyncGenerator<readonly Entry[], void>
}

/** So much is written without a pause: a run that never waits for anything would let nobody else have a turn. */
const turnBytes = 64 * 1024
/** So much is shown at once; less waits for what else comes in the same turn. */
const chunkBytes = 16 * 1024
const readAtOnce = 1000

export function createFeed({ firstSeq, append, read, flushSoon, bufferBytes }: FeedOptions): Feed {
  const bell = createBell(() => (announced = shown))
  /** What is at hand: the entries from `start` on. */
  let tail: FeedEntry[] = []
  let start = firstSeq
  let bytes = 0
  /** Entries before these numbers may be shown, are announced to those who follow, and are logged. */
  let shown = firstSeq
  let announced = firstSeq
  let logged = firstSeq
  let sinceTurn = 0
  let sinceChunk = 0
  let isClosed = false
  let writing: Promise<void> = Promise.resolve()

  const next = (): number => start + tail.length

  const take = (event: AgUiEvent): void => {
    const json = JSON.stringify(event)
    tail.push({ seq: next(), json, event })
    bytes += json.length
    sinceTurn += json.length
    sinceChunk += json.length
  }

  const show = (): void => {
    shown = next()
    const isFull = sinceChunk > chunkBytes
    if (isFull) sinceChunk = 0
    bell.ring(isFull || isClosed)
  }

  /** What is safe in the log and exceeds the buffer is no longer kept at hand. */
  const trim = (): void => {
    let drop = 0
    for (; bytes > bufferBytes && start + drop < Math.min(logged, announced); drop++)
      bytes -= tail[drop]?.json.length ?? 0
    tail = drop === 0 ? tail : tail.slice(drop)
    start += drop
  }

  const write = async (): Promise<void> => {
    const entries = tail.slice(logged - start)
    if (entries.length === 0) return
    await append(entries)
    logged += entries.length
    trim()
  }

  const flush = (): Promise<void> => {
    // One after the other: a failed write is tried again with the next.
    writing = writing.then(write, write)
    return writing
  }

  return {
    get nextSeq() {
      return next()
    },
    get isClosed() {
      return isClosed
    },
    push(event) {
      take(event)
      show()
      flushSoon()
      if (sinceTurn < turnBytes) return undefined
      sinceTurn = 0
      return turn()
    },
    async pushSafely(event) {
      take(event)
      await flush()
      show()
    },
    async seal(event) {
      take(event)
      await writing.catch(ignore)
      return tail.slice(logged - start)
    },
    close(instead) {
      if (instead) {
        tail.pop()
        take(instead)
      }
      isClosed = true
      // Committed with the end, or lost with it.
      logged = next()
      show()
    },
    flush,
    async *follow(after, signal) {
      let cursor = after
      const leave = (): void => bell.ring(true)
      signal.addEventListener('abort', leave)
      try {
        while (!signal.aborted) {
          if (cursor + 1 < start) {
            const entries = await read(cursor, readAtOnce)
            const last = entries.at(-1)
            if (last === undefined)
              throw new MillraceError('STORE_ERROR', 'The log lacks events of a run at work.')
            cursor = last.seq
            yield entries
          } else if (cursor + 1 < announced) {
            const entries = tail.slice(cursor + 1 - start, announced - start)
            cursor = announced - 1
            yield entries
          } else if (isClosed) return
          else await bell.heard()
        }
      } finally {
        signal.removeEventListener('abort', leave)
      }
    },
  }
}

function ignore(): void {
  // What could not be written is given out again.
}

/** Lets timers and sockets have a turn. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve)
    else setTimeout(resolve, 0)
  })
}
