import type { Interrupt, Message } from '@ag-ui/core'
import { createFold, type AgUiEvent, type Fold } from 'millrace/protocol'
import { isRecord, typeOf } from './json.js'
import type { RunEntry, RunFile } from './run-file.js'
import { createStrictReader, type StrictEvents } from './strict-events.js'

/** What a client holds after an event. Never changed. */
export interface ClientContent {
  readonly messages: readonly Message[]
  readonly state: unknown
  /** Open interrupts. Those of AG-UI before 1.0 are whatever the producer gave. */
  readonly interrupts: readonly (Interrupt | Readonly<Record<string, unknown>>)[]
}

export interface TimeTravel {
  /** What the client held before the run. */
  readonly start: ClientContent
  /** What the client holds after the event with this index; -1 is before the first. */
  at(index: number): ClientContent
  /** Why a client would pass over the event, or be left with a broken history. */
  problemAt(index: number): string | undefined
  /** The events as a strict stream has them. */
  strictAt(index: number): readonly AgUiEvent[]
}

interface Checkpoint extends ClientContent {
  readonly index: number
}

interface TimeTravelOptions {
  /** A checkpoint is kept after so many events. Default 500. */
  readonly interval?: number
}

/**
 * Goes to any event of a run. `entries` may grow. The first visit of a part folds up to it; after that, a jump folds at most
 * `interval` events, and a step forward one.
 */
export function createTimeTravel(
  start: Pick<RunFile, 'start' | 'input'>,
  entries: readonly RunEntry[],
  { interval = 500 }: TimeTravelOptions = {},
): TimeTravel {
  const read = createStrictReader()
  const strict: StrictEvents[] = []
  const problems = new Map<number, string>()
  const first: Checkpoint = { index: -1, ...startOf(start), interrupts: [] }
  const checkpoints: Checkpoint[] = [first]
  let cursor = new Cursor(first)
  let scanned = -1

  const strictAt = (index: number): StrictEvents => {
    for (let next = strict.length; next <= index; next++) strict.push(read(entries[next]?.event))
    return strict[index] ?? { events: [] }
  }
  const step = (): void => {
    const index = cursor.index + 1
    const { events, problem } = strictAt(index)
    const complaint = cursor.apply(events, entries[index]?.event) ?? problem
    if (complaint !== undefined) problems.set(index, complaint)
    scanned = Math.max(scanned, index)
    if ((index + 1) % interval === 0 && checkpoints.length === (index + 1) / interval)
      checkpoints.push({ index, ...cursor.content() })
  }
  const goTo = (index: number): void => {
    const from = checkpoints[Math.min(Math.floor((index + 1) / interval), checkpoints.length - 1)] ?? first
    // Backwards, or past a checkpoint: begin there.
    if (cursor.index > index || cursor.index < from.index) cursor = new Cursor(from)
    while (cursor.index < index) step()
  }
  return {
    start: first,
    at(index) {
      goTo(Math.max(-1, Math.min(index, entries.length - 1)))
      return cursor.content()
    },
    problemAt(index) {
      if (index > scanned) goTo(Math.min(index, entries.length - 1))
      return problems.get(index)
    },
    strictAt: (index) => strictAt(index).events,
  }
}

/** A fold on its way through the events. */
class Cursor {
  index: number
  readonly #fold: Fold
  #interrupts: ClientContent['interrupts']
  #content: ClientContent | undefined

  constructor({ index, messages, state, interrupts }: Checkpoint) {
    this.index = index
    this.#fold = createFold({ messages, state })
    this.#interrupts = interrupts
  }

  apply(events: readonly AgUiEvent[], wire: unknown): string | undefined {
    this.index++
    this.#content = undefined
    let problem: string | undefined
    for (const event of events) {
      problem ??= this.#fold.apply(event)
      this.#noteInterrupts(event)
    }
    if (typeOf(wire) === 'RUN_STARTED') this.#interrupts = []
    return problem
  }

  content(): ClientContent {
    return (this.#content ??= {
      // A list that has been shown must not grow, nor its messages change.
      messages: [...this.#fold.settle().messages],
      state: this.#fold.state,
      interrupts: this.#interrupts,
    })
  }

  #noteInterrupts(event: AgUiEvent): void {
    if (event.type === 'RUN_FINISHED') {
      if (event.outcome?.type === 'interrupt') this.#interrupts = event.outcome.interrupts
    } else if (event.type === 'CUSTOM' && event.name === 'on_interrupt') {
      const value: unknown = typeof event.value === 'string' ? parseLoosely(event.value) : event.value
      this.#interrupts = [...this.#interrupts, isRecord(value) ? value : { value }]
    }
  }
}

/** What the thread held, and what the client has sent with the run. */
function startOf({ start, input }: Pick<RunFile, 'start' | 'input'>): Omit<ClientContent, 'interrupts'> {
  const ids = new Set(start.messages.map(({ id }) => id))
  const sent = Array.isArray(input?.messages) ? input.messages : []
  const fresh = sent.filter((message) => isRecord(message) && !ids.has(message.id))
  return { messages: [...start.messages, ...fresh], state: start.state ?? {} }
}

function parseLoosely(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
