import { nextTurn } from '../../core/next-turn.js'
import type { AgUiEvent } from '../../protocol/index.js'
import type { LogBatch, LogEntry } from '../../threads/contract.js'
import type { DisconnectSignal } from '../stream/sink.js'
import { afterPromises } from './after-promises.js'
import { Follower, type Entries, type Followed } from './subscriber.js'
import { createTail, type Tail } from './tail.js'

/** Events that follow each other, as the log takes them. */
export type FeedBatch = Pick<LogBatch, 'firstSeq' | 'lines'>

export interface FeedOptions {
  readonly runId: string
  readonly firstSeq: number
  /** Writes events to the log. */
  readonly append: (batch: FeedBatch) => Promise<void>
  /** Reads events from the log. */
  readonly read: (after: number, limit: number) => Promise<readonly LogEntry[]>
  /** Asks for a call of `flush`, not at once but soon. */
  readonly flushSoon: (feed: Feed) => void
  /** How much is kept at hand for readers that are behind. */
  readonly bufferBytes: number
}

/**
 * The events of one run on their way out: numbered, shown to all who follow, written to the log in batches. Nobody who
 * follows holds the run back: who is slow reads later, from memory or from the log, and gets the same events.
 */
export interface Feed {
  nextSeq(): number
  /**
   * Shows an event. Gives a promise when it is time to let others have a turn. Throws, with nothing changed, when it
   * cannot be written as JSON.
   */
  push(event: AgUiEvent): Promise<void> | undefined
  /** Shows an event when it, and all before it, are safe in the log. Throws as `push` does. */
  pushSafely(event: AgUiEvent): Promise<void>
  /** Takes the last event without showing it, and gives all that the log does not have yet. */
  seal(event: AgUiEvent): Promise<FeedBatch>
  /** Shows what `seal` has taken, and ends. `instead` takes the place of the last event. */
  close(instead?: AgUiEvent): void
  /** Writes to the log what it does not have yet. */
  flush(): Promise<void>
  /** The events after a number, in batches, until the end. */
  follow(after: number, gone: DisconnectSignal): AsyncIterable<Entries>
}

/** So much is written without a pause: a run that never waits for anything would let nobody else have a turn. */
const turnBytes = 64 * 1024
/** So much is shown at once; less waits for what else comes in the same turn. */
const chunkBytes = 16 * 1024

export function createFeed(options: FeedOptions): Feed {
  return new RunFeed(options)
}

// A class, and no closures: a run that waits for its model keeps all of this in memory.
class RunFeed implements Feed, Followed {
  readonly tail: Tail
  readonly #options: FeedOptions
  #followers: readonly Follower[] = nobody
  #shown: number
  announced: number
  isClosed = false
  #isRinging = false
  #logged: number
  /** The last that must not be seen before it is logged. */
  #guarded = -1
  #isSealed = false
  #sinceTurn = 0
  #sinceChunk = 0
  #writing: Promise<void> = written

  constructor(options: FeedOptions) {
    const { firstSeq } = options
    this.#options = options
    this.tail = createTail(firstSeq)
    this.#shown = this.announced = this.#logged = firstSeq
  }

  get runId(): string {
    return this.#options.runId
  }

  nextSeq(): number {
    return this.tail.next
  }

  push(event: AgUiEvent): Promise<void> | undefined {
    const bytes = this.tail.push(event)
    this.#sinceTurn += bytes
    this.#sinceChunk += bytes
    this.#show()
    this.#options.flushSoon(this)
    // The first event is on its way before the run goes on: nobody who follows has seen anything yet.
    if (this.#sinceTurn < turnBytes && this.tail.next > this.#options.firstSeq + 1) return undefined
    this.#sinceTurn = 0
    return nextTurn()
  }

  pushSafely(event: AgUiEvent): Promise<void> {
    const seq = this.tail.next
    this.tail.push(event)
    this.#guarded = seq
    return this.flush().then(() => this.#show())
  }

  async seal(event: AgUiEvent): Promise<FeedBatch> {
    this.#isSealed = true
    this.tail.push(event)
    await this.#writing.catch(ignore)
    return this.#unlogged()
  }

  close(instead?: AgUiEvent): void {
    if (instead) this.tail.replaceLast(instead)
    this.isClosed = true
    // Committed with the end, or lost with it.
    this.#logged = this.tail.next
    this.#show()
  }

  flush(): Promise<void> {
    const write = (): Promise<void> => this.#write()
    // One after the other: what could not be written is tried again with the next.
    this.#writing = this.#writing.then(write, write)
    return this.#writing
  }

  follow(after: number, gone: DisconnectSignal): AsyncIterable<Entries> {
    return new Follower(this, after, gone)
  }

  read(after: number, limit: number): Promise<readonly LogEntry[]> {
    return this.#options.read(after, limit)
  }

  join(follower: Follower): void {
    this.#followers = [...this.#followers, follower]
  }

  leave(follower: Follower): void {
    // Nobody is woken any more.
    if (this.isClosed) return
    this.#followers = this.#followers.filter((other) => other !== follower)
  }

  #show(): void {
    this.#shown = this.#guarded < this.#logged ? this.tail.next : this.#guarded
    const isFull = this.#sinceChunk > chunkBytes
    if (isFull) this.#sinceChunk = 0
    if (isFull || this.isClosed) this.#announce()
    else if (!this.#isRinging) {
      this.#isRinging = true
      // Once for all that comes in the same turn.
      afterPromises(() => this.#announce())
    }
  }

  #announce(): void {
    this.#isRinging = false
    this.announced = this.#shown
    for (const follower of this.#followers) follower.wake()
  }

  #unlogged(): FeedBatch {
    return { firstSeq: this.#logged, lines: this.tail.lines(this.#logged, this.tail.next) }
  }

  async #write(): Promise<void> {
    // What is left then is committed with the end; written here too, the log would have it twice.
    if (this.#isSealed) return
    const batch = this.#unlogged()
    if (batch.lines.length === 0) return
    await this.#options.append(batch)
    this.#logged += batch.lines.length
    this.tail.trim(this.#options.bufferBytes, Math.min(this.#logged, this.announced))
  }
}

const nobody: readonly Follower[] = []
const written = Promise.resolve()

function ignore(): void {
  // What could not be written is given out again.
}
