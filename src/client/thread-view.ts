import type { Interrupt } from '@ag-ui/core'
import type { MillraceError } from '../core/errors.js'
import { isRecord } from '../core/json.js'
import {
  lostEventName,
  parseEventId,
  threadEventName,
  type AgUiEvent,
  type EventOf,
  type EventPosition,
} from '../protocol/index.js'
import type { PendingCall, RunResult } from './contract.js'
import { toClientError } from './http.js'
import { share } from './share.js'
import { nextSubagents } from './subagents.js'
import { none, ThreadContent } from './thread-content.js'
import { toRunResult, toRunStatus, toThreadFacts, type ThreadFacts } from './thread-facts.js'

/** An event as it came, with its id if it had one. */
export interface StreamedEvent {
  readonly id?: string | undefined
  readonly event: AgUiEvent
}

/** How an event came: with an id, and in the answer to a run of this client. */
interface Origin {
  readonly hasId: boolean
  readonly isOwn: boolean
}

/** A thread as its events tell it. Takes each event once, and does a constant amount of work for it. */
export class ThreadView {
  /** The version of the thread that this is. Undefined: the server must show the whole thread again. */
  version: number | undefined
  isLoaded = false
  isRunning = false
  runId: string | undefined
  /** The latest run that has ended: what the streams have told of its end. */
  lastRun: RunResult | undefined
  error: MillraceError | undefined
  lastEventId: string | undefined
  readonly content = new ThreadContent()
  #position: EventPosition | undefined
  #startedRunId: string | undefined
  #forkedTo: string | undefined
  /** Those that were open when the run began. One that fails leaves them open. */
  #interruptsBefore: readonly Interrupt[] = none

  constructor(version: number | undefined) {
    this.version = version
    this.isLoaded = version !== undefined
  }

  get interrupts(): readonly Interrupt[] {
    return this.content.parts.interrupts
  }

  get pendingToolCalls(): readonly PendingCall[] {
    return this.content.parts.pendingToolCalls
  }

  /** A stream begins. What an earlier one has left unfinished does not count. */
  open(): void {
    this.content.expect()
  }

  /** Makes the server show the whole thread when it is asked next. */
  forget(): void {
    this.version = undefined
    this.#leaveStream()
  }

  /**
   * Takes in one event. `isOwn` is for the answer to a run of this client. Returns false for an event that it has already.
   */
  apply({ id, event }: StreamedEvent, isOwn: boolean): boolean {
    const position = id === undefined ? undefined : parseEventId(id)
    if (position && this.#isKnown(position)) return false
    const facts = this.content.apply(event)
    if (facts) this.#takeWhole(facts)
    this.#note(event, { hasId: position !== undefined, isOwn })
    if (position) {
      this.#position = position
      this.lastEventId = id
    }
    return true
  }

  #isKnown({ runId, seq, after }: EventPosition): boolean {
    const last = this.#position
    if (last?.runId !== runId) return false
    // In an order of its own, a stream begins right after the event that was named.
    return after === undefined && last.after === undefined && seq <= last.seq
  }

  #leaveStream(): void {
    this.lastEventId = undefined
    this.#position = undefined
  }

  /** A whole thread has come. */
  #takeWhole({ version, rest }: ThreadFacts): void {
    this.version = version
    this.isLoaded = true
    this.isRunning = !rest
    if (!rest) {
      this.runId = this.#startedRunId
      return
    }
    this.#leaveStream()
    this.content.setPending(rest.pendingIds)
    const lastRun = rest.lastRun && toRunResult(rest.lastRun, this.pendingToolCalls)
    this.lastRun = lastRun ?? this.lastRun
    this.runId = lastRun?.runId
    this.error = lastRun?.error
  }

  /** Keeps what events say of the run. */
  #note(event: AgUiEvent, origin: Origin): void {
    const { content } = this
    switch (event.type) {
      case 'RUN_STARTED':
        return this.#start(event, origin)
      case 'RUN_FINISHED':
        return this.#finish(event, origin)
      case 'RUN_ERROR':
        return this.#fail(event, origin)
      case 'TOOL_CALL_RESULT':
        return content.removePending(event.toolCallId)
      case 'CUSTOM':
        return this.#noteCustom(event)
      case 'SUBAGENT_STARTED':
      case 'SUBAGENT_FINISHED':
      case 'SUBAGENT_ERROR':
        return content.change({ subagents: nextSubagents(content.parts.subagents, event) })
      default:
        return undefined
    }
  }

  #start({ runId }: EventOf<'RUN_STARTED'>, { hasId }: Origin): void {
    this.#startedRunId = runId
    this.#forkedTo = undefined
    // Without an id it may be a thread at rest: the next event says so.
    if (!hasId) return
    this.isRunning = true
    this.isLoaded = true
    this.runId = runId
    this.error = undefined
    this.#interruptsBefore = this.interrupts
    this.content.change({ interrupts: none, subagents: none, usage: none })
  }

  #finish(event: EventOf<'RUN_FINISHED'>, origin: Origin): void {
    const { outcome } = event
    const interrupts = outcome?.type === 'interrupt' ? share(this.interrupts, outcome.interrupts) : none
    this.content.change({ interrupts })
    if (outcome?.type === 'success' && outcome.pendingToolCallIds)
      this.content.setPending([...this.pendingToolCalls.map(({ id }) => id), ...outcome.pendingToolCallIds])
    const status = toRunStatus(outcome?.type ?? 'success', this.pendingToolCalls)
    // A run adds one version. One that failed, or that was none, may have added another number of them.
    const next = origin.hasId && this.version !== undefined ? this.version + 1 : undefined
    this.#end(event, origin, { status, next })
  }

  #fail(event: EventOf<'RUN_ERROR'>, origin: Origin): void {
    this.error = toClientError({ code: '', ...event })
    this.content.change({ interrupts: this.#interruptsBefore })
    this.#end(event, origin, { status: 'failed', error: this.error })
  }

  #end(
    { usage }: EventOf<'RUN_FINISHED' | 'RUN_ERROR'>,
    { hasId, isOwn }: Origin,
    { next, ...ended }: Omit<RunResult, 'runId'> & { readonly next?: number | undefined },
  ): void {
    this.isRunning = false
    // The end of a thread at rest is that of no run.
    if (!hasId && !isOwn) return
    this.isLoaded = true
    if (usage) this.content.change({ usage })
    const forked = this.#forkedTo === undefined ? {} : { forkedTo: this.#forkedTo }
    this.lastRun = { runId: this.#startedRunId ?? '', ...ended, ...forked }
    this.version = next
  }

  #noteCustom({ name, value }: EventOf<'CUSTOM'>): void {
    if (name === 'millrace.forked' && isRecord(value) && typeof value.threadId === 'string')
      this.#forkedTo = value.threadId
    if (name === lostEventName) this.content.expect({ version: undefined })
    if (name === threadEventName) this.content.expect(toThreadFacts(value))
  }
}
