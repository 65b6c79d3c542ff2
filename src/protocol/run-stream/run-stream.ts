import { PROTOCOL_VERSION } from '@ag-ui/core'
import { isAbortError } from '../../core/abort.js'
import { abortable, withStop, type ClosingOptions } from '../../core/abortable.js'
import { MillraceError } from '../../core/errors.js'
import { checkAgentEvent } from '../check/check-value.js'
import type {
  AgentEvent,
  AgUiEvent,
  CloseOptions,
  FailOptions,
  Fold,
  ResumeRunStreamOptions,
  RunEnd,
  RunStream,
  RunStreamOptions,
} from '../contract.js'
import { openLaneOfTag, writeStepEnd, writeStepStart, writeSubagentEnd, writeSubagentStart } from './lanes.js'
import { writeMessage, writeSpanEnd, writeSpanStart } from './messages.js'
import { writeCustomEvent } from './rewrites.js'
import { RunState, withLaneTag, type Item } from './run-state.js'
import { closeOpen, writeRunError, writeRunFinished } from './terminal-event.js'
import {
  writeActivityDelta,
  writeActivitySnapshot,
  writeEncryptedValue,
  writeMessagesSnapshot,
  writeStateDelta,
  writeStateSnapshot,
} from './thread-events.js'
import { writeCall, writeResult } from './tool-calls.js'

/** Starts a run stream: RUN_STARTED is emitted before this returns. */
export function createRunStream(options: RunStreamOptions): RunStream {
  const { threadId, runId, parentRunId } = options
  const run = new RunState(options)
  run.emit({
    type: 'RUN_STARTED',
    threadId,
    runId,
    protocolVersion: PROTOCOL_VERSION,
    ...(parentRunId === undefined ? {} : { parentRunId }),
  })
  return new StrictStream(run, { threadId, runId })
}

/** Resumes a run stream that stopped in the middle. Without any events it starts with RUN_STARTED. */
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

/** A suspension that an agent writes keeps its lane open until the run ends. In a log it is the lane's end. */
function withoutSuspension(event: AgentEvent): AgentEvent {
  return event.type === 'SUBAGENT_FINISHED' ? { type: event.type, subagentRunId: event.subagentRunId } : event
}

export interface WithRunStreamOptions extends Omit<RunStreamOptions, 'emit'>, ClosingOptions {
  /** Ends the run as cancelled. Closes the source and waits for its grace time, whether or not it reacts. */
  readonly signal?: AbortSignal
}

/**
 * Makes the loose events of a generator a strict stream from RUN_STARTED to the one terminal event: RUN_FINISHED with
 * what the source returns (nothing means success), RUN_ERROR when it throws or writes an invalid event, cancelled when
 * the signal aborts. Returns what the client then holds.
 *
 * A consumer that stops early closes the source and gets no further events.
 */
export function withRunStream(
  source: AsyncGenerator<AgentEvent, RunEnd | undefined>,
  { signal = new AbortController().signal, ...options }: WithRunStreamOptions,
): AsyncGenerator<AgUiEvent, RunStream['fold']> {
  const agent = abortable(source, { ...options, signal })

  async function* relay(): AsyncGenerator<AgUiEvent, RunStream['fold']> {
    const written: AgUiEvent[] = []
    const stream = createRunStream({ ...options, emit: (event) => written.push(event) })
    try {
      for (;;) {
        yield* written.splice(0)
        const step = await agent.next()
        if (step.done === true) {
          stream.finish(step.value ?? { type: 'success' })
          break
        }
        stream.write(step.value)
      }
    } catch (error) {
      if (signal.aborted && isAbortError(error, signal)) stream.finish({ type: 'cancelled' })
      else stream.fail(error)
    } finally {
      await agent.return(undefined)
    }
    yield* written
    return stream.fold
  }

  return withStop(relay(), async () => {
    await agent.return(undefined)
  })
}

// A class: an accessor in an object literal would give every run an object shape of its own.
class StrictStream implements RunStream {
  readonly #run: RunState
  readonly #ids: { readonly threadId: string; readonly runId: string }
  ended = false

  constructor(run: RunState, ids: { readonly threadId: string; readonly runId: string }) {
    this.#run = run
    this.#ids = ids
  }

  get fold(): Fold {
    return this.#run.fold
  }

  write(event: AgentEvent): void {
    if (this.ended) throw this.#closed()
    if (writeDelta(this.#run, event)) return
    const checked = checkAgentEvent(event, this.#run)
    if (checked) route(this.#run, checked)
  }

  finish(end: RunEnd): void {
    if (this.ended) throw this.#closed()
    writeRunFinished(this.#run, this.#ids, end)
    this.ended = true
  }

  fail(error: unknown, options?: FailOptions): void {
    if (this.ended) throw this.#closed()
    writeRunError(this.#run, error, options)
    this.ended = true
  }

  closeOpen(options: CloseOptions): readonly string[] {
    if (this.ended) throw this.#closed()
    return closeOpen(this.#run, options)
  }

  #closed(): MillraceError {
    const message = `Run '${this.#ids.runId}' has ended; nothing can be written to it.`
    return new MillraceError('RUN_CLOSED', message)
  }
}

/**
 * The path of nearly every event: a plain delta of an item that is open in its own lane. Returns false for all else,
 * and when in doubt.
 */
function writeDelta(run: RunState, event: AgentEvent): boolean {
  let item: Item | undefined
  switch (event.type) {
    case 'TEXT_MESSAGE_CONTENT':
    case 'TEXT_MESSAGE_CHUNK':
      item = event.messageId === undefined ? undefined : run.messages.text.get(event.messageId)
      break
    case 'REASONING_MESSAGE_CONTENT':
    case 'REASONING_MESSAGE_CHUNK':
      item = event.messageId === undefined ? undefined : run.messages.reasoning.get(event.messageId)
      break
    case 'TOOL_CALL_ARGS':
    case 'TOOL_CALL_CHUNK':
      item = event.toolCallId === undefined ? undefined : run.calls.get(event.toolCallId)
      break
    default:
      return false
  }
  const { delta, subagentRunId } = event
  if (!item?.isOpen || typeof delta !== 'string' || delta === '') return false
  if (subagentRunId !== undefined && subagentRunId !== item.lane.tag) return false
  if (event.timestamp !== undefined || event.rawEvent !== undefined || event.metadata !== undefined)
    return false
  run.emitDelta(item, delta)
  return true
}

/** Passes a checked event to the writer of its family. */
function route(run: RunState, event: AgentEvent): void {
  switch (event.type) {
    case 'TEXT_MESSAGE_START':
    case 'TEXT_MESSAGE_CONTENT':
    case 'TEXT_MESSAGE_END':
    case 'TEXT_MESSAGE_CHUNK':
    case 'REASONING_MESSAGE_START':
    case 'REASONING_MESSAGE_CONTENT':
    case 'REASONING_MESSAGE_END':
    case 'REASONING_MESSAGE_CHUNK':
      return writeMessage(run, event)
    case 'TOOL_CALL_START':
    case 'TOOL_CALL_ARGS':
    case 'TOOL_CALL_END':
    case 'TOOL_CALL_CHUNK':
      return writeCall(run, event)
    case 'TOOL_CALL_RESULT':
      return writeResult(run, event)
    case 'REASONING_START':
      return writeSpanStart(run, event)
    case 'REASONING_END':
      return writeSpanEnd(run, event)
    case 'REASONING_ENCRYPTED_VALUE':
      return writeEncryptedValue(run, event)
    case 'STATE_SNAPSHOT':
      return writeStateSnapshot(run, event)
    case 'STATE_DELTA':
      return writeStateDelta(run, event)
    case 'MESSAGES_SNAPSHOT':
      return writeMessagesSnapshot(run, event)
    case 'ACTIVITY_SNAPSHOT':
      return writeActivitySnapshot(run, event)
    case 'ACTIVITY_DELTA':
      return writeActivityDelta(run, event)
    case 'STEP_STARTED':
      return writeStepStart(run, event)
    case 'STEP_FINISHED':
      return writeStepEnd(run, event)
    case 'SUBAGENT_STARTED':
      return writeSubagentStart(run, event)
    case 'SUBAGENT_FINISHED':
    case 'SUBAGENT_ERROR':
      return writeSubagentEnd(run, event)
    case 'CUSTOM':
      return writeCustomEvent(run, event)
    case 'RAW':
      return run.emit(withLaneTag(event, openLaneOfTag(run, event.subagentRunId)))
  }
}
