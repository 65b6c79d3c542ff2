import { MillraceError } from '../../core/errors.js'
import type { LogEntry } from '../../threads/contract.js'
import type { DisconnectSignal } from '../stream/sink.js'
import type { RunFeed } from './run-feed.js'

/** Consecutive events of a run. */
export interface Entries {
  readonly runId: string
  readonly entries: readonly LogEntry[]
}

type Result = IteratorResult<Entries, undefined>

const readAtOnce = 256
const done: Result = { done: true, value: undefined }

/** A cursor on a feed. Reads the announced events in batches, until the end or until its client is gone. */
export class Subscriber implements AsyncIterableIterator<Entries, undefined> {
  // Not a generator: a waiting stream keeps one in memory, and a generator takes several times the room.
  readonly #feed: RunFeed
  readonly #gone: DisconnectSignal
  #next: number
  #isDone = false
  /** Resolves the `next()` that waits for new events. */
  #resolve: ((result: Result) => void) | undefined
  readonly #onGone = (): void => this.#end()

  /** Whether its run is followed while it is there. */
  readonly follows: boolean

  constructor(
    feed: RunFeed,
    { after, follows }: { readonly after: number; readonly follows: boolean },
    gone: DisconnectSignal,
  ) {
    this.#feed = feed
    this.follows = follows
    this.#gone = gone
    this.#next = after + 1
    feed.join(this)
    gone.addEventListener('abort', this.#onGone)
    if (gone.aborted) this.#end()
  }

  /** Must not be called again before the last call has resolved. */
  next(): Promise<Result> {
    if (!this.#isDone && this.#next < this.#feed.recent.start) return this.#readLog()
    const result = this.#readRecent()
    if (result) return Promise.resolve(result)
    return new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  return(): Promise<Result> {
    this.#end()
    return Promise.resolve(done)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Called when there are new events, and at the end. */
  wake(): void {
    const resolve = this.#resolve
    const result = resolve && this.#readRecent()
    if (!resolve || !result) return
    this.#resolve = undefined
    resolve(result)
  }

  /** The events in memory, or the end. Undefined when there is nothing new. */
  #readRecent(): Result | undefined {
    const { runId, recent, announced, isClosed } = this.#feed
    if (!this.#isDone && this.#next < announced) {
      const entries = recent.entries(this.#next, announced)
      this.#next = announced
      return { done: false, value: { runId, entries } }
    }
    if (!this.#isDone && isClosed) this.#end()
    return this.#isDone ? done : undefined
  }

  async #readLog(): Promise<Result> {
    const { runId } = this.#feed
    try {
      const logged = await this.#feed.readLog(this.#next - 1, readAtOnce)
      // The commit writes the end to the log before the thread is free.
      const entries = logged.filter(({ seq }) => seq < this.#feed.announced)
      const last = entries.at(-1)
      if (last === undefined) throw new MillraceError('STORE_ERROR', 'The log lacks events of a live run.')
      this.#next = last.seq + 1
      return { done: false, value: { runId, entries } }
    } catch (error) {
      this.#end()
      throw error
    }
  }

  #end(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#gone.removeEventListener('abort', this.#onGone)
    this.#feed.leave(this)
    this.wake()
  }
}
