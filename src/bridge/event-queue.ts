import { MillraceError } from '../core/errors.js'
import { createFifo } from '../core/queue.js'

export interface EventQueueOptions {
  /** How many unread events may wait before the producer should. */
  readonly capacity: number
  /** How many a producer that cannot wait may put. One more fails the queue with AGENT_ERROR. Default: no limit. */
  readonly limit?: number
  /** Called when the reader asks for more after the last event. The reader gets its error. */
  readonly onEnd?: () => void | Promise<void>
}

type QueueStep<T> = IteratorResult<T, void>

/**
 * The bounded queue from a runtime to the one reader of its events, in order. A promise per event is the most a token
 * can afford: so this is no generator, and `put` returns a promise only when the producer has to wait.
 */
export class EventQueue<T> implements AsyncIterator<T, void> {
  readonly #options: EventQueueOptions
  #events = createFifo<T>()
  readonly #readers = createFifo<(step: QueueStep<T> | Promise<QueueStep<T>>) => void>()
  #isClosed = false
  #failure: { readonly error: unknown } | undefined
  #space: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined
  /** Producers that wait until an event is read, by the number of events up to it. */
  #unread: readonly { readonly count: number; readonly resolve: () => void }[] = []
  #put = 0
  #taken = 0

  constructor(options: EventQueueOptions) {
    this.#options = options
  }

  /** Adds an event. Returns a promise if the producer should wait; it never rejects. Ignored after the end. */
  put(event: T): Promise<void> | undefined {
    if (this.#isClosed) return undefined
    this.#put++
    const reader = this.#readers.shift()
    if (reader) {
      this.#taken++
      reader.value({ done: false, value: event })
      return undefined
    }
    const { limit = Infinity } = this.#options
    if (this.#events.size >= limit) {
      this.fail(new MillraceError('AGENT_ERROR', `More than ${limit} events of the agent wait to be read.`))
      return undefined
    }
    this.#events.push(event)
    return this.waitForSpace()
  }

  /** Back-pressure: a promise while the reader is behind. It resolves when half is read, or at the end. Never rejects. */
  waitForSpace(): Promise<void> | undefined {
    if (this.#events.size <= this.#options.capacity || this.#isClosed) return undefined
    if (!this.#space) {
      let resolve: () => void = () => undefined
      const promise = new Promise<void>((done) => (resolve = done))
      this.#space = { promise, resolve }
    }
    return this.#space.promise
  }

  /** Resolves when the reader is done with all events put so far, and asks for the next, or at the end. Never rejects. */
  whenRead(): Promise<void> {
    // A reader that waits is done with all of them.
    if (this.#isClosed || this.#readers.size > 0) return Promise.resolve()
    const count = this.#put
    return new Promise((resolve) => {
      this.#unread = [...this.#unread, { count, resolve }]
    })
  }

  next(): Promise<QueueStep<T>> {
    if (this.#unread.length > 0) this.#tellRead(this.#taken)
    const event = this.#events.shift()
    if (event) {
      this.#taken++
      if (this.#space && this.#events.size <= this.#options.capacity / 2) this.#letProducerGoOn()
      return Promise.resolve({ done: false, value: event.value })
    }
    if (this.#isClosed) return this.#end()
    return new Promise((resolve) => this.#readers.push(resolve))
  }

  /** Ends the queue after the events put so far. */
  close(): void {
    this.#isClosed = true
    this.#letProducerGoOn()
    this.#tellRead(Infinity)
    for (let reader = this.#readers.shift(); reader; reader = this.#readers.shift()) reader.value(this.#end())
  }

  /** Like `close`, and then throws. Ignored after the end. */
  fail(error: unknown): void {
    if (this.#isClosed) return
    this.#failure = { error }
    this.close()
  }

  /** Ends the queue now: unread events are dropped. */
  drop(): void {
    this.#events = createFifo()
    this.close()
  }

  #tellRead(taken: number): void {
    const read = this.#unread.filter(({ count }) => count <= taken)
    this.#unread = this.#unread.filter(({ count }) => count > taken)
    for (const { resolve } of read) resolve()
  }

  #letProducerGoOn(): void {
    this.#space?.resolve()
    this.#space = undefined
  }

  async #end(): Promise<QueueStep<T>> {
    await this.#options.onEnd?.()
    if (this.#failure) throw this.#failure.error
    return { done: true, value: undefined }
  }
}
