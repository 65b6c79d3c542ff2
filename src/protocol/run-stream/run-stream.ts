import { PROTOCOL_VERSION, type Message } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import type { AgentEvent, AgUiEvent } from '../events.js'
import type { Fold } from '../fold/fold.js'
import { cleanEvent } from './clean.js'
import { closeOpen, failRun, finishRun, type CloseOptions, type FailOptions, type RunEnd } from './ending.js'
import { emitDelta } from './messages.js'
import { route } from './route.js'
import { RunState } from './run-state.js'
import type { Run } from './run.js'
import { emitArgs } from './tool-calls.js'

export interface RunStreamOptions {
  readonly threadId: string
  readonly runId: string
  readonly parentRunId?: string | undefined
  /** The messages the client holds when the run starts. */
  readonly messages?: readonly Message[]
  /** The state the client holds when the run starts. */
  readonly state?: unknown
  /** Receives every event of the strict stream, in order, synchronously. What it throws reaches the writer. */
  readonly emit: (event: AgUiEvent) => void
  /** Reads the agent's own state, for the snapshot that is sent when a delta does not fit the client's. */
  readonly readState?: () => unknown
  /** Told what had to be left out or could not be kept as the agent wrote it. Must not throw. */
  readonly onProblem?: (problem: string) => void
  readonly newId?: () => string
}

/**
 * The one owner of "what is open" in a run. Agents write loosely: chunks, untagged continuations, ends that never
 * come. What comes out is a strict AG-UI 1.0 stream that starts with RUN_STARTED and has exactly one terminal event
 * with everything closed before it.
 */
export interface RunStream {
  /** What a client of this stream holds now. */
  readonly fold: Pick<Fold, 'messages' | 'state'>
  readonly ended: boolean
  /**
   * Takes one event of an agent. Throws INVALID_EVENT or ENCODING_ERROR, with nothing written, when it has no
   * meaning, and RUN_CLOSED after the end.
   */
  write(event: AgentEvent): void
  /** Ends the run. Throws, with nothing written, when the end itself is invalid: then call `fail`. */
  finish(end: RunEnd): void
  /** Ends the run with RUN_ERROR. Clients learn what the error may show, see `toWireError`. */
  fail(error: unknown, options?: FailOptions): void
  /**
   * Closes all that is open, running subagents too, and leaves the run open: for an attempt that failed. Returns the ids
   * of the messages that were cut off.
   */
  closeOpen(options: CloseOptions): readonly string[]
}

export interface ResumeRunStreamOptions extends RunStreamOptions {
  /** The strict events that the run has emitted so far, as its log has them. They are not emitted again. */
  readonly events: Iterable<AgUiEvent>
  /** Called when one of the events cannot be read. It is left out. */
  readonly onUnreadable: (error: unknown) => void
}

/** Takes up a run stream that stopped in the middle. Without any events it starts with RUN_STARTED. */
export function resumeRunStream({ events, onUnreadable, ...options }: ResumeRunStreamOptions): RunStream {
  const unsent: AgUiEvent[] = []
  let emit: RunStreamOptions['emit'] = (event) => void unsent.push(event)
  const stream = createRunStream({ ...options, emit: (event) => emit(event) })
  for (const event of events) {
    unsent.length = 0
    if (event.type === 'RUN_STARTED' || event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') continue
    try {
      stream.write(withoutSuspension(event))
    } catch (error) {
      onUnreadable(error)
    }
    unsent.length = 0
  }
  emit = options.emit
  for (const event of unsent) emit(event)
  return stream
}

/** A live subagent that suspends is ended when the run is. In a log that has happened. */
function withoutSuspension(event: AgentEvent): AgentEvent {
  return event.type === 'SUBAGENT_FINISHED' ? { type: event.type, subagentRunId: event.subagentRunId } : event
}

/** Starts a run stream: RUN_STARTED is emitted before this returns. */
export function createRunStream(options: RunStreamOptions): RunStream {
  const { threadId, runId, parentRunId } = options
  const run: Run = new RunState(options)
  run.emit({
    type: 'RUN_STARTED',
    threadId,
    runId,
    protocolVersion: PROTOCOL_VERSION,
    ...(parentRunId === undefined ? {} : { parentRunId }),
  })
  return new StrictStream(run, { threadId, runId })
}

// A class: an accessor in an object literal would give every run an object shape of its own.
class StrictStream implements RunStream {
  readonly #run: Run
  readonly #ids: { readonly threadId: string; readonly runId: string }
  ended = false

  constructor(run: Run, ids: { readonly threadId: string; readonly runId: string }) {
    this.#run = run
    this.#ids = ids
  }

  get fold(): Fold {
    return this.#run.fold
  }

  write(event: AgentEvent): void {
    this.#assertOpen()
    if (writeDelta(this.#run, event)) return
    const clean = cleanEvent(this.#run, event)
    if (clean) route(this.#run, clean)
  }

  finish(end: RunEnd): void {
    this.#assertOpen()
    finishRun(this.#run, this.#ids, end)
    this.ended = true
  }

  fail(error: unknown, options?: FailOptions): void {
    this.#assertOpen()
    failRun(this.#run, error, options)
    this.ended = true
  }

  closeOpen(options: CloseOptions): readonly string[] {
    this.#assertOpen()
    return closeOpen(this.#run, options)
  }

  #assertOpen(): void {
    if (!this.ended) return
    throw new MillraceError('RUN_CLOSED', `Run '${this.#ids.runId}' has ended; nothing can be written to it.`)
  }
}

/**
 * The path of nearly every event: a plain delta for something that is open in its own lane. All else, and any
 * doubt, takes the long way.
 */
function writeDelta(run: Run, event: AgentEvent): boolean {
  switch (event.type) {
    case 'TEXT_MESSAGE_CONTENT':
    case 'TEXT_MESSAGE_CHUNK':
    case 'REASONING_MESSAGE_CONTENT':
    case 'REASONING_MESSAGE_CHUNK': {
      const { messageId, delta } = event
      if (typeof delta !== 'string' || delta === '' || messageId === undefined || hasExtras(event))
        return false
      const items = event.type.startsWith('T') ? run.messages.text : run.messages.reasoning
      const item = items.get(messageId)
      if (!item?.isOpen || item.lane.tag !== (event.subagentRunId ?? item.lane.tag)) return false
      emitDelta(run, item, delta)
      return true
    }
    case 'TOOL_CALL_ARGS':
    case 'TOOL_CALL_CHUNK': {
      const { toolCallId, delta } = event
      if (typeof delta !== 'string' || delta === '' || toolCallId === undefined || hasExtras(event))
        return false
      const call = run.calls.get(toolCallId)
      if (!call?.isOpen || call.lane.tag !== (event.subagentRunId ?? call.lane.tag)) return false
      emitArgs(run, call, delta)
      return true
    }
    default:
      return false
  }
}

function hasExtras(event: AgentEvent): boolean {
  return event.timestamp !== undefined || event.rawEvent !== undefined || event.metadata !== undefined
}
