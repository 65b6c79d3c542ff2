import { createTimeTravel, type TimeTravel } from '../model/time-travel.js'
import type { RunEntry, RunFile } from '../model/run-file.js'

/** What went wrong with a source: a key of the texts, and what the other side said. */
export interface SourceFailure {
  readonly key:
    | 'insNoAnswer'
    | 'insRefused'
    | 'insNotSse'
    | 'insBroken'
    | 'insTooMany'
    | 'insForbidden'
    | 'insBadUrl'
    | 'insApiFailed'
  readonly detail: string
}

/** The request that another server was sent, to send it again. */
export interface ForeignRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly input: Record<string, unknown>
}

/** A page with more events would be slow, and a stream that never ends would fill the memory. */
export const maxEvents = 200_000

/** How often those who look on are told that something has come. */
const noticeMs = 100

/** A run that is open in the inspector. It grows while it is read. */
export class RunRecord {
  readonly source: string
  readonly entries: RunEntry[] = []
  readonly request: ForeignRequest | undefined
  travel: TimeTravel
  isLive: boolean
  failure: SourceFailure | undefined
  #head: Omit<RunFile, 'events'>
  #revision = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #listeners = new Set<() => void>()
  readonly #reading = new AbortController()

  constructor(source: string, file: RunFile, { isLive = false, request }: RunRecordOptions = {}) {
    this.source = source
    this.request = request
    this.isLive = isLive
    const { events, ...head } = file
    this.#head = head
    for (const entry of events) this.entries.push(entry)
    this.travel = createTimeTravel(head, this.entries)
  }

  get file(): RunFile {
    return { ...this.#head, events: this.entries }
  }

  /** Aborts when nobody wants more of it. */
  get signal(): AbortSignal {
    return this.#reading.signal
  }

  /** Reads no more. What has come stays. */
  stop(): void {
    this.#reading.abort()
  }

  get head(): Omit<RunFile, 'events'> {
    return this.#head
  }

  /** Changes whenever something has come. */
  readonly getRevision = (): number => this.#revision

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  add(entries: readonly RunEntry[]): void {
    for (const entry of entries) this.entries.push(entry)
    this.#timer ??= setTimeout(() => this.#notify(), noticeMs)
  }

  /** Replaces what is known of the run beside its events. */
  update(head: Partial<Omit<RunFile, 'events'>>): void {
    this.#head = { ...this.#head, ...head }
    this.#notify()
  }

  end(failure?: SourceFailure): void {
    this.isLive = false
    this.failure = failure
    this.#notify()
  }

  #notify(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#revision++
    for (const listener of this.#listeners) listener()
  }
}

interface RunRecordOptions {
  readonly isLive?: boolean
  readonly request?: ForeignRequest
}
