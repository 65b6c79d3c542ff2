import { MillraceError } from '../../core/errors.js'
import type { AgUiEvent } from '../../protocol/index.js'
import type { LogEntry } from '../../threads/store.js'
import type { LogBatch } from '../../threads/thread.js'
import { createBell, type Bell } from './bell.js'
import { createTail, type Tail } from './tail.js'
import { nextTurn } from './turn.js'

/** Events that follow each other, as the log takes them. */
export type FeedBatch = Pick<LogBatch, 'firstSeq' | 'lines'>

export interface FeedOptions {
  readonly firstSeq: number
  /** Writes events to the log. */
  readonly append: (batch: FeedBatch) => Promise<void>
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
  nextSeq(): number
  /** Shows an event. Gives a promise when it is time to let others have a turn. */
  push(event: AgUiEvent): Promise<void> | undefined
  /** Shows an event when it, and all before it, are safe in the log. */
  pushSafely(event: AgUiEvent): Promise<void>
  /** Takes the last event without showing it, and gives all that the log does not have yet. */
  seal(event: AgUiEvent): Promise<FeedBatch>
  /** Shows what `seal` has taken, and ends. `instead` takes the place of the last event. */
  close(instead?: AgUiEvent): void
  /** Writes to the log what it does not have yet. */
  flush(): Promise<void>
  /** The events after a number, in batches, until the end. */
  follow(after: number, signal: AbortSignal): AsyncGenerator<readonly LogEntry[], void>
}

/** So much is written without a pause: a run that never waits for anything would let nobody else have a turn. */
const turnBytes = 64 * 1024
/** So much is shown at once; less waits for what else comes in the same turn. */
const chunkBytes = 16 * 1024
const readAtOnce = 256

export function createFeed({ firstSeq, append, read, flushSoon, bufferBytes }: FeedOptions): Feed {
  const tail = createTail(firstSeq)
  const progress = { shown: firstSeq, announced: firstSeq, isClosed: false }
  const bell = createBell(() => (progress.announced = progress.shown))
  let logged = firstSeq
  /** The last that must not be seen before it is logged. */
  let guarded = -1
  let isSealed = false
  let sinceTurn = 0
  let sinceChunk = 0
  let writing: Promise<void> = Promise.resolve()

  const show = (): void => {
    progress.shown = guarded < logged ? tail.next : guarded
    const isFull = sinceChunk > chunkBytes
    if (isFull) sinceChunk = 0
    bell.ring(isFull || progress.isClosed)
  }
  const unlogged = (): FeedBatch => ({
    firstSeq: logged,
    lines: tail.lines(logged, tail.next),
  })
  const write = async (): Promise<void> => {
    // What is left then is committed with the end; written here too, the log would have it twice.
    if (isSealed) return
    const batch = unlogged()
    if (batch.lines.length === 0) return
    await append(batch)
    logged += batch.lines.length
    tail.trim(bufferBytes, Math.min(logged, progress.announced))
  }
  const flush = (): Promise<void> => {
    // One after the other: what could not be written is tried again with the next.
    writing = writing.then(write, write)
    return writing
  }

  return {
    nextSeq: () => tail.next,
    push(event) {
      const bytes = tail.push(event)
      sinceTurn += bytes
      sinceChunk += bytes
      show()
      flushSoon()
      // The first event is on its way before the run goes on: nobody who follows has seen anything yet.
      if (sinceTurn < turnBytes && tail.next > firstSeq + 1) return undefined
      sinceTurn = 0
      return nextTurn()
    },
    async pushSafely(event) {
      guarded = tail.next
      tail.push(event)
      await flush()
      show()
    },
    async seal(event) {
      isSealed = true
      tail.push(event)
      await writing.catch(ignore)
      return unlogged()
    },
    close(instead) {
      if (instead) tail.replaceLast(instead)
      progress.isClosed = true
      // Committed with the end, or lost with it.
      logged = tail.next
      show()
    },
    flush,
    follow: (after, signal) => follow({ tail, progress, bell, read }, after, signal),
  }
}

interface Followed {
  readonly tail: Tail
  readonly progress: { readonly announced: number; readonly isClosed: boolean }
  readonly bell: Bell
  readonly read: FeedOptions['read']
}

async function* follow(
  { tail, progress, bell, read }: Followed,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<readonly LogEntry[], void> {
  let next = after + 1
  const leave = (): void => bell.ring(true)
  signal.addEventListener('abort', leave)
  try {
    while (!signal.aborted) {
      if (next < tail.start) {
        const logged = await read(next - 1, readAtOnce)
        // The log has the end with the commit, and the thread is not free yet.
        const entries = logged.filter(({ seq }) => seq < progress.announced)
        const last = entries.at(-1)
        if (last === undefined)
          throw new MillraceError('STORE_ERROR', 'The log lacks events of a run at work.')
        next = last.seq + 1
        yield entries
      } else if (next < progress.announced) {
        const entries = tail.slice(next, progress.announced)
        next = progress.announced
        yield entries
      } else if (progress.isClosed) return
      else await bell.heard()
    }
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

function ignore(): void {
  // What could not be written is given out again.
}
