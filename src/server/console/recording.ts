import type { ModelObserver } from '../../agents/index.js'
import type { Clock } from '../../core/clock.js'
import { toWireError } from '../../core/errors.js'
import { jsonSize } from '../../core/json-size.js'
import type { RunInput } from '../../protocol/index.js'
import type { LogEntry, ThreadKey } from '../../threads/contract.js'
import type { Hooks } from '../hooks/hooks.js'
import type { LiveRun, RunEnd } from '../live/registry.js'
import { toCutText } from './cut-text.js'

/** Takes bytes of the memory that recordings have together. False when there is none left. */
export type TakeBytes = (recording: RunRecording, bytes: number) => boolean

/** Events that were shown together. */
interface ShownEvents {
  /** The number of the first. */
  readonly seq: number
  readonly at: number
}

/** A request to a model. JSON, since what a run holds goes on to change. */
interface RecordedRequest {
  readonly at: number
  text: string
  ending?: { readonly endedAt: number; readonly usage?: unknown; readonly error?: unknown }
}

interface RecordingOptions {
  readonly key: ThreadKey
  readonly runId: string
  readonly clock: Clock
  readonly take: TakeBytes
}

/**
 * What the process remembers of one run for the console, beside what the store has. All of it may be missing: the memory is
 * bounded, and what does not fit is left out.
 */
export class RunRecording {
  readonly key: ThreadKey
  readonly runId: string
  /** Set when the request has become a run. */
  run: LiveRun | undefined
  end: (RunEnd & { readonly endedAt: number; readonly events: number }) | undefined
  startedAt: number
  title = ''
  /** What it takes of the memory. */
  bytes = 0
  /** The request as the client sent it, as JSON. */
  input: string | undefined
  /** The thread before the run. */
  start: LiveRun['start'] | undefined
  /** All events so far, in batches, or undefined when there were too many. */
  events: (readonly LogEntry[])[] | undefined = []
  /** When the events from a number on were shown. */
  readonly shown: ShownEvents[] = []
  readonly requests: RecordedRequest[] = []
  /** Each as JSON. */
  readonly changes: string[] = []
  readonly #clock: Clock
  readonly #take: TakeBytes

  constructor({ key, runId, clock, take }: RecordingOptions) {
    this.key = key
    this.runId = runId
    this.#clock = clock
    this.#take = take
    this.startedAt = clock.now()
  }

  keepInput(input: RunInput): void {
    const text = toCutText(input)
    if (this.#take(this, text.length)) this.input = text
  }

  /** Called once, when the run has begun. */
  begin(run: LiveRun): void {
    this.run = run
    this.startedAt = run.startedAt
    this.title = run.title
    const bytes = jsonSize(run.start, maxStartBytes)
    if (bytes <= maxStartBytes && this.#take(this, bytes)) this.start = run.start
  }

  /** Keeps the events of its run until the end. */
  async followEvents(run: LiveRun): Promise<void> {
    const never = new AbortController().signal
    for await (const { entries } of run.feed.lookOn(run.firstSeq - 1, never)) this.#addEvents(entries)
  }

  /** Once for all events of a tick: nothing here is done per event but a sum. */
  #addEvents(entries: readonly LogEntry[]): void {
    const [first] = entries
    if (!first) return
    if (this.#take(this, timeBytes)) this.shown.push({ seq: first.seq, at: this.#clock.now() })
    if (!this.events) return
    if (this.#take(this, sizeOf(entries))) this.events.push(entries)
    else this.dropEvents()
  }

  /** A part of a run is of no use; the log may have all of it. */
  dropEvents(): void {
    for (const entries of this.events ?? []) this.#take(this, -sizeOf(entries))
    this.events = undefined
  }

  /** Records what a hook has changed. `before` and `after` are JSON texts. */
  changed(hook: keyof Hooks, before: string, after: string | undefined): void {
    const at = this.#clock.now()
    const seq = this.run?.feed.nextSeq
    const facts = JSON.stringify({ at, hook, ...(seq === undefined ? {} : { seq }) }).slice(0, -1)
    const text = `${facts},"before":${before},"after":${after ?? 'null'}}`
    if (this.#take(this, text.length)) this.changes.push(text)
  }

  /** Is told of the requests to models. */
  readonly observeModel: ModelObserver = (request) => {
    const at = this.#clock.now()
    const kept: RecordedRequest = { at, text: toCutText(request) }
    if (this.#take(this, kept.text.length)) this.requests.push(kept)
    else {
      const { agent, model } = request
      kept.text = toCutText({ agent, model, messages: [], tools: [], isCut: true })
      if (this.#take(this, kept.text.length)) this.requests.push(kept)
    }
    return ({ usage, error }) => {
      kept.ending = {
        endedAt: this.#clock.now(),
        ...(usage === undefined ? {} : { usage }),
        ...(error === undefined ? {} : { error: toWireError(error, 'MODEL_ERROR') }),
      }
    }
  }
}

/** A longer thread is not kept: the store has it, and its size alone would take long to find out. */
const maxStartBytes = 4 * 1024 * 1024
const timeBytes = 16

function sizeOf(entries: readonly LogEntry[]): number {
  let size = 0
  for (const { json } of entries) size += json.length
  return size
}
