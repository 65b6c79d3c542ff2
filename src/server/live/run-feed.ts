import { type Clock, yieldToEventLoop } from '../../core/clock.js'
import type { AgUiEvent } from '../../protocol/index.js'
import type { LogBatch, LogEntry } from '../../threads/contract.js'
import type { DisconnectSignal } from '../stream/sink.js'
import { Subscriber, type Entries } from './subscriber.js'

/** Consecutive events, as the log takes them. */
export type FeedBatch = Pick<LogBatch, 'firstSeq' | 'lines'>

/** The log of one run. */
export interface FeedLog {
  append(batch: FeedBatch): Promise<void>
  read(after: number, limit: number): Promise<readonly LogEntry[]>
}

/** Is told when the first subscriber joins and when the last one leaves a feed that is not closed. */
export interface SubscriberWatcher {
  followedChanged(isFollowed: boolean): void
}

export interface RunFeedOptions {
  readonly runId: string
  readonly firstSeq: number
  readonly log: FeedLog
  readonly flusher: LogFlusher
  /** How much stays in memory for subscribers that are behind. */
  readonly bufferBytes: number
  /** Whether the log has every event before a subscriber sees it. */
  readonly logFirst?: boolean
  readonly watcher?: SubscriberWatcher
}

/** A run yields to timers and sockets after this many bytes: one that never waits would block them. */
const yieldBytes = 64 * 1024
/** This much is shown at once. Fewer bytes wait for other events of the same tick. */
const chunkBytes = 16 * 1024

/**
 * The events of one run: numbered, shown to subscribers, written to the log in batches. A slow subscriber never holds
 * the run back; it reads later, from memory or from the log, and gets the same events.
 */
export class RunFeed {
  // No closures: a run that waits for its model keeps all of this in memory.
  readonly recent: RecentEvents
  /** The number of the first event that subscribers may not see yet. */
  announced: number
  isClosed = false
  readonly #options: RunFeedOptions
  #subscribers: readonly Subscriber[] = none
  /** The next announcement shows the events before this number. A sealed event is not among them. */
  #shown: number
  #isAnnouncing = false
  #logged: number
  /** The last event that must be logged before anybody sees it. */
  #guarded = -1
  #isSealed = false
  #isFlushDue = false
  #bytesSinceYield = 0
  #bytesSinceChunk = 0
  #writing: Promise<void> = written

  constructor(options: RunFeedOptions) {
    const { firstSeq } = options
    this.#options = options
    this.recent = new RecentEvents(firstSeq)
    this.#shown = this.announced = this.#logged = firstSeq
  }

  get runId(): string {
    return this.#options.runId
  }

  get nextSeq(): number {
    return this.recent.next
  }

  /**
   * Shows an event. Returns a promise when it is time to yield to others. Throws, with nothing changed, when the event
   * cannot be written as JSON.
   */
  push(event: AgUiEvent): Promise<void> | undefined {
    const bytes = this.recent.push(event)
    this.#bytesSinceYield += bytes
    this.#bytesSinceChunk += bytes
    this.#show()
    if (!this.#isFlushDue) {
      this.#isFlushDue = true
      this.#options.flusher.flushSoon(this)
    }
    // The first event leaves before the run continues: its subscriber has seen nothing yet.
    if (this.#bytesSinceYield < yieldBytes && this.recent.next > this.#options.firstSeq + 1) return undefined
    this.#bytesSinceYield = 0
    return yieldToEventLoop()
  }

  /** Shows an event once it, and all before it, are safe in the log. Throws as `push` does. */
  pushSafely(event: AgUiEvent): Promise<void> {
    const seq = this.recent.next
    this.recent.push(event)
    this.#guarded = seq
    return this.flush().then(() => this.#show())
  }

  /** Takes the last event without showing it. Returns everything that the log lacks. */
  async seal(event: AgUiEvent): Promise<FeedBatch> {
    this.#isSealed = true
    this.recent.push(event)
    // A batch that failed is part of the next.
    await this.#writing.catch(() => undefined)
    return this.#unlogged()
  }

  /** Shows the sealed event, or `instead`, and ends. */
  close(instead?: AgUiEvent): void {
    if (instead) this.recent.replaceLast(instead)
    this.isClosed = true
    // The commit writes the last events together with the end, or loses both.
    this.#logged = this.recent.next
    this.#show()
  }

  /** Writes to the log what it lacks. */
  flush(): Promise<void> {
    this.#isFlushDue = false
    const write = (): Promise<void> => this.#write()
    // One after the other: a batch that failed is tried again with the next.
    this.#writing = this.#writing.then(write, write)
    return this.#writing
  }

  /** The events after a number, in batches, until the end. */
  subscribe(after: number, gone: DisconnectSignal): AsyncIterable<Entries> {
    return new Subscriber(this, { after, follows: true }, gone)
  }

  /** The same for somebody who looks on: the run is not followed for that. */
  lookOn(after: number, gone: DisconnectSignal): AsyncIterable<Entries> {
    return new Subscriber(this, { after, follows: false }, gone)
  }

  readLog(after: number, limit: number): Promise<readonly LogEntry[]> {
    return this.#options.log.read(after, limit)
  }

  join(subscriber: Subscriber): void {
    const isFirst = subscriber.follows && !this.#isFollowed
    this.#subscribers = [...this.#subscribers, subscriber]
    if (isFirst) this.#options.watcher?.followedChanged(true)
  }

  leave(subscriber: Subscriber): void {
    // A closed feed wakes no subscribers.
    if (this.isClosed) return
    this.#subscribers = this.#subscribers.filter((other) => other !== subscriber)
    if (subscriber.follows && !this.#isFollowed) this.#options.watcher?.followedChanged(false)
  }

  get #isFollowed(): boolean {
    return this.#subscribers.some(({ follows }) => follows)
  }

  #show(): void {
    this.#shown = this.#firstHidden()
    const isFull = this.#bytesSinceChunk > chunkBytes
    if (isFull) this.#bytesSinceChunk = 0
    if (isFull || this.isClosed) this.#announce()
    else if (!this.#isAnnouncing) {
      this.#isAnnouncing = true
      afterPromises(() => this.#announce())
    }
  }

  /** The number of the first event that must not be seen yet. */
  #firstHidden(): number {
    if (this.isClosed) return this.recent.next
    if (this.#options.logFirst === true) return this.#logged
    return this.#guarded < this.#logged ? this.recent.next : this.#guarded
  }

  /** Wakes the subscribers, once for all events of a tick. */
  #announce(): void {
    this.#isAnnouncing = false
    this.announced = this.#shown
    for (const subscriber of this.#subscribers) subscriber.wake()
  }

  #unlogged(): FeedBatch {
    return { firstSeq: this.#logged, lines: this.recent.lines(this.#logged, this.recent.next) }
  }

  async #write(): Promise<void> {
    // The commit writes the rest; written here too, the log would have it twice.
    if (this.#isSealed) return
    const batch = this.#unlogged()
    if (batch.lines.length === 0) return
    await this.#options.log.append(batch)
    this.#logged += batch.lines.length
    this.recent.trim(this.#options.bufferBytes, Math.min(this.#logged, this.announced))
    if (this.#options.logFirst === true) this.#show()
  }
}

const none: readonly Subscriber[] = []
const written = Promise.resolve()

/** Calls back after the promises that are ready, so that events of one tick leave together. */
function afterPromises(callback: () => void): void {
  if (typeof process === 'object' && typeof process.nextTick === 'function') process.nextTick(callback)
  else setTimeout(callback, 0)
}

/** The newest events of a run, as JSON: the same text goes to the log and to every subscriber. */
export class RecentEvents {
  /** The number of the oldest event. */
  start: number
  #lines: string[] = []
  #size = 0
  // The JSON of a delta up to its text. It is the same for all deltas of a message.
  #deltaType = ''
  #deltaMessageId = ''
  #deltaHead = ''

  constructor(firstSeq: number) {
    this.start = firstSeq
  }

  /** The number of the next event. */
  get next(): number {
    return this.start + this.#lines.length
  }

  /** Adds an event and returns the length of its JSON. Throws, with nothing changed, when it has none. */
  push(event: AgUiEvent): number {
    const json = this.#toJson(event)
    this.#lines.push(json)
    this.#size += json.length
    return json.length
  }

  replaceLast(event: AgUiEvent): void {
    this.#size -= this.#lines.pop()?.length ?? 0
    this.push(event)
  }

  entries(from: number, to: number): readonly LogEntry[] {
    return this.lines(from, to).map((json, n) => ({ seq: from + n, json }))
  }

  lines(from: number, to: number): readonly string[] {
    return this.#lines.slice(from - this.start, to - this.start)
  }

  /** Drops the oldest events until the rest fits into so many bytes, but none from `until` on. */
  trim(bytes: number, until: number): void {
    let drop = 0
    for (; this.#size > bytes && this.start + drop < until; drop++)
      this.#size -= this.#lines[drop]?.length ?? 0
    if (drop === 0) return
    this.#lines = this.#lines.slice(drop)
    this.start += drop
  }

  /** `JSON.stringify`, at half the cost for plain text deltas. */
  #toJson(event: AgUiEvent): string {
    const { type } = event
    if (
      (type !== 'TEXT_MESSAGE_CONTENT' && type !== 'REASONING_MESSAGE_CONTENT') ||
      !hasOnlyDeltaMembers(event)
    )
      return JSON.stringify(event)
    const { messageId, delta } = event
    if (messageId !== this.#deltaMessageId || type !== this.#deltaType) {
      this.#deltaType = type
      this.#deltaMessageId = messageId
      this.#deltaHead = `{"type":"${type}","messageId":${JSON.stringify(messageId)},"delta":`
    }
    return `${this.#deltaHead}${JSON.stringify(delta)}}`
  }
}

/** Whether it has these three members and no other, in this order. */
function hasOnlyDeltaMembers(event: object): boolean {
  let n = 0
  for (const name in event) if (name !== deltaMembers[n++]) return false
  return n === deltaMembers.length
}

const deltaMembers = ['type', 'messageId', 'delta']

/** Flushes the feeds of all runs in one tick, so that a store can write their events in one transaction. */
export interface LogFlusher {
  flushSoon(feed: Flushable): void
}

interface Flushable {
  flush(): Promise<void>
}

/** How long an event may be missing in the log after it was shown, in milliseconds. */
const lossWindowMs = 100

interface LogFlusherOptions {
  readonly clock: Clock
  /** Gets the error of a flush that failed. The next flush of that run tries again. */
  readonly onProblem: (error: unknown) => void
  /** Whether subscribers wait for the flush. */
  readonly logFirst?: boolean
}

export function createLogFlusher({ clock, onProblem, logFirst }: LogFlusherOptions): LogFlusher {
  const everyMs = logFirst === true ? 0 : lossWindowMs
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
