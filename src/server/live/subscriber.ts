import { MillraceError } from '../../core/errors.js'
import type { LogEntry } from '../../threads/contract.js'
import type { DisconnectSignal } from '../stream/sink.js'
import type { Tail } from './tail.js'

/** Events of a run that follow each other. */
export interface Entries {
  readonly runId: string
  readonly entries: readonly LogEntry[]
}

/** A feed, as those see it who follow it. */
export interface Followed {
  readonly runId: string
  readonly tail: Tail
  /** The number of the first event that may not be seen yet. */
  readonly announced: number
  readonly isClosed: boolean
  /** Reads events from the log. */
  read(after: number, limit: number): Promise<readonly LogEntry[]>
  /** From now on, `wake` is called when there is something new. */
  join(follower: Follower): void
  leave(follower: Follower): void
}

type Step = IteratorResult<Entries, undefined>

const readAtOnce = 256
const over: Step = { done: true, value: undefined }

/**
 * A cursor on a feed. Reads what was announced, in batches, until the end or until its client is gone. Not a generator:
 * a stream that waits keeps one in memory, and a generator takes several times the room.
 */
export class Follower implements AsyncIterableIterator<Entries, undefined> {
  readonly #feed: Followed
  readonly #gone: DisconnectSignal
  #next: number
  #isOver = false
  /** Answers the `next()` that waits for something new. */
  #answer: ((step: Step) => void) | undefined
  readonly #leave = (): void => this.#end()

  constructor(feed: Followed, after: number, gone: DisconnectSignal) {
    this.#feed = feed
    this.#gone = gone
    this.#next = after + 1
    feed.join(this)
    gone.addEventListener('abort', this.#leave)
    if (gone.aborted) this.#end()
  }

  /** Must not be called again before the last one is answered. */
  next(): Promise<Step> {
    if (!this.#isOver && this.#next < this.#feed.tail.start) return this.#fromLog()
    const step = this.#fromTail()
    if (step) return Promise.resolve(step)
    return new Promise((resolve) => {
      this.#answer = resolve
    })
  }

  return(): Promise<Step> {
    this.#end()
    return Promise.resolve(over)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** There is something new, or the end. */
  wake(): void {
    const answer = this.#answer
    const step = answer && this.#fromTail()
    if (!answer || !step) return
    this.#answer = undefined
    answer(step)
  }

  /** What is at hand, or the end. Nothing when it has to wait. */
  #fromTail(): Step | undefined {
    const { runId, tail, announced, isClosed } = this.#feed
    if (!this.#isOver && this.#next < announced) {
      const entries = tail.slice(this.#next, announced)
      this.#next = announced
      return { done: false, value: { runId, entries } }
    }
    if (!this.#isOver && isClosed) this.#end()
    return this.#isOver ? over : undefined
  }

  async #fromLog(): Promise<Step> {
    const { runId } = this.#feed
    try {
      const logged = await this.#feed.read(this.#next - 1, readAtOnce)
      // The log has the end with the commit, and the thread is not free yet.
      const entries = logged.filter(({ seq }) => seq < this.#feed.announced)
      const last = entries.at(-1)
      if (last === undefined) throw new MillraceError('STORE_ERROR', 'The log lacks events of a run at work.')
      this.#next = last.seq + 1
      return { done: false, value: { runId, entries } }
    } catch (error) {
      this.#end()
      throw error
    }
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#gone.removeEventListener('abort', this.#leave)
    this.#feed.leave(this)
    this.wake()
  }
}
