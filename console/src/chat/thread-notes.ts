import type { ThreadOptions } from 'millrace/client'

type AgUiEvent = Parameters<NonNullable<ThreadOptions['onEvent']>>[0]

/** When something began and ended, in milliseconds of this page or of the server. */
export interface Span {
  readonly startedAt: number
  readonly endedAt?: number
}

/** A subagent that events have told of. */
export interface NotedSubagent {
  readonly id: string
  readonly name: string
  readonly parentId?: string
  readonly status: 'running' | 'finished' | 'suspended' | 'failed'
  readonly error?: string
}

/** A CUSTOM event, and the id of what came before it. */
export interface NotedEvent {
  readonly id: string
  readonly name: string
  readonly value: unknown
  readonly after: string | undefined
}

/** What the events of a thread say and its snapshot does not keep. Never changed. */
export interface Notes {
  readonly spans: ReadonlyMap<string, Span>
  readonly subagents: ReadonlyMap<string, NotedSubagent>
  /** The open ones, outermost first. */
  readonly steps: readonly string[]
  readonly events: readonly NotedEvent[]
  /** The attempt that a model call is at, while it is tried again. */
  readonly attempt?: number | undefined
  /** How often an edit or a regeneration has left a branch. */
  readonly forks: number
}

export interface ThreadNotes {
  readonly onEvent: (event: AgUiEvent) => void
  readonly subscribe: (listener: () => void) => () => void
  readonly getSnapshot: () => Notes
}

const maxEvents = 200
const maxSpans = 5000

/** Takes notes of a thread's events. Says nothing of deltas: those are in the messages. */
export function createThreadNotes(now: () => number = () => Date.now()): ThreadNotes {
  return new NoteTaker(now)
}

class NoteTaker implements ThreadNotes {
  #notes: Notes = { spans: new Map(), subagents: new Map(), steps: [], events: [], forks: 0 }
  #latestId: string | undefined
  #count = 0
  readonly #now: () => number
  readonly #listeners = new Set<() => void>()

  constructor(now: () => number) {
    this.#now = now
  }

  readonly getSnapshot = (): Notes => this.#notes

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly onEvent = (event: AgUiEvent): void => {
    switch (event.type) {
      case 'RUN_STARTED':
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        return this.#change({ steps: [], attempt: undefined })
      case 'TEXT_MESSAGE_START':
        this.#latestId = event.messageId
        return this.#notes.attempt === undefined ? undefined : this.#change({ attempt: undefined })
      case 'REASONING_MESSAGE_START':
        this.#latestId = event.messageId
        return this.#begin(event.messageId, event)
      case 'REASONING_MESSAGE_END':
        return this.#end(event.messageId, event)
      case 'TOOL_CALL_START':
        this.#latestId = event.toolCallId
        return this.#begin(event.toolCallId, event)
      case 'TOOL_CALL_RESULT':
        return this.#end(event.toolCallId, event)
      case 'STEP_STARTED':
        return this.#change({ steps: [...this.#notes.steps, event.stepName] })
      case 'STEP_FINISHED':
        return this.#endStep(event.stepName)
      case 'SUBAGENT_STARTED':
      case 'SUBAGENT_FINISHED':
      case 'SUBAGENT_ERROR':
        return this.#noteSubagent(event)
      case 'CUSTOM':
        return this.#noteCustom(event.name, event.value)
      default:
        return undefined
    }
  }

  #change(part: Partial<Notes>): void {
    this.#notes = { ...this.#notes, ...part }
    for (const listener of this.#listeners) listener()
  }

  #begin(id: string, { timestamp }: AgUiEvent): void {
    if (this.#notes.spans.has(id)) return
    const spans = new Map([...this.#notes.spans].slice(1 - maxSpans))
    this.#change({ spans: spans.set(id, { startedAt: timestamp ?? this.#now() }) })
  }

  #end(id: string, { timestamp }: AgUiEvent): void {
    const span = this.#notes.spans.get(id)
    if (!span || span.endedAt !== undefined) return
    const ended = { ...span, endedAt: timestamp ?? this.#now() }
    this.#change({ spans: new Map(this.#notes.spans).set(id, ended) })
  }

  #endStep(name: string): void {
    const { steps } = this.#notes
    const at = steps.lastIndexOf(name)
    if (at !== -1) this.#change({ steps: steps.toSpliced(at, 1) })
  }

  #noteSubagent(
    event: Extract<AgUiEvent, { readonly type: 'SUBAGENT_STARTED' | 'SUBAGENT_FINISHED' | 'SUBAGENT_ERROR' }>,
  ): void {
    const id = event.subagentRunId
    const known = this.#notes.subagents.get(id) ?? { id, name: id, status: 'running' }
    const subagents = new Map(this.#notes.subagents)
    if (event.type === 'SUBAGENT_STARTED') {
      this.#begin(id, event)
      const parent = event.parentSubagentRunId
      subagents.set(id, {
        ...{ id, name: event.name, status: 'running' },
        ...(parent === undefined ? {} : { parentId: parent }),
      })
    } else {
      this.#end(id, event)
      if (event.type === 'SUBAGENT_ERROR')
        subagents.set(id, { ...known, status: 'failed', error: event.message })
      else {
        const isSuspended = event.outcome?.type === 'suspended'
        subagents.set(id, { ...known, status: isSuspended ? 'suspended' : 'finished' })
      }
    }
    this.#change({ subagents })
  }

  #noteCustom(name: string, value: unknown): void {
    const { forks, events } = this.#notes
    if (name === 'millrace.forked') this.#change({ forks: forks + 1 })
    else if (name === 'millrace.retry') this.#change({ attempt: attemptIn(value) })
    else if (!name.startsWith('millrace.') && !ofProtocol.has(name)) {
      const event = { id: `event-${++this.#count}`, name, value, after: this.#latestId }
      this.#change({ events: [...events.slice(1 - maxEvents), event] })
    }
  }
}

/** CUSTOM events that say what the page knows otherwise. */
const ofProtocol: ReadonlySet<string> = new Set(['PredictState', 'on_interrupt'])

function attemptIn(value: unknown): number {
  const { attempt } = (typeof value === 'object' && value !== null ? value : {}) as {
    readonly attempt?: unknown
  }
  return typeof attempt === 'number' ? attempt : 1
}
