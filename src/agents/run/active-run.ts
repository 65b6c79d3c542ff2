import { aggregateTokenUsage, type Message, type TokenUsage } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import { createRunStream, type AgUiEvent, type RunStream } from '../../protocol/index.js'
import type { Agent, SafePoint } from '../contract.js'
import { parseCheckpoint, type Checkpoint } from '../interrupts/checkpoint.js'
import type { RunScope } from './context.js'
import { createLedger, type Ledger } from './ledger.js'
import { createOutbox, type Outbox } from './run-output.js'
import type { NormalInput } from './run-request.js'
import type { Outcome, RunOptions } from './run.js'
import { createSharedState, type SharedState } from './shared-state.js'
import { openTrace, type RunTrace } from './tracing.js'

type Defaulted = 'newId' | 'clock' | 'onProblem' | 'graceMs'
type Optional =
  'checkpoint' | 'checkpoints' | 'edit' | 'identity' | 'native' | 'values' | 'toolTimeoutMs' | 'trace'

/** The options of a run with the defaults filled in. */
export type SettledOptions = Required<Pick<RunOptions, Defaulted>> & {
  readonly [Name in Optional]: RunOptions[Name] | undefined
}

export interface DriveOptions {
  readonly agent: Agent
  readonly input: NormalInput
  readonly options: SettledOptions
  readonly signal: AbortSignal
  readonly sink: RunSink
  readonly shouldStop: (at: SafePoint) => boolean
}

/** Where the events of a run go. */
export interface RunSink {
  /** Takes an event. Gives a promise when the run has to wait before it goes on. Must not throw or reject. */
  readonly send: (event: AgUiEvent) => Promise<void> | undefined
  /**
   * Takes the last event, with what became of the run. Called once, when nothing of the run is at work any more: what
   * is saved here is safe before anybody learns of the end. Must not throw or reject.
   */
  readonly end: (event: AgUiEvent, outcome: Outcome) => Promise<void> | undefined
}

/** A run whose stream has begun. */
export interface ActiveRun extends DriveOptions {
  readonly stream: RunStream
  readonly ledger: Ledger
  readonly usage: TokenUsage[]
  /** The conversation it starts with. */
  readonly messages: readonly Message[]
  readonly state: SharedState
  readonly checkpoint: Checkpoint | undefined
  /** Why nothing can be done: RUN_STARTED comes before any complaint. */
  readonly problem: Error | undefined
  /** What its agents share. Set when they start. */
  scope: RunScope | undefined
  /** Whether it answers the questions of a checkpoint. */
  isAnswering: boolean
  readonly outbox: Outbox
  readonly trace: RunTrace
}

/** What every outcome has. */
export function soFar({ stream, usage }: ActiveRun): Pick<Outcome, 'messages' | 'state' | 'usage'> {
  const { messages, state } = stream.fold
  return { messages, state, usage: aggregateTokenUsage(usage) }
}

/** Loads what was saved and starts the stream. */
export async function openRun(given: DriveOptions): Promise<ActiveRun> {
  const { agent, input, options, signal, sink, shouldStop } = given
  // First, while what the caller is doing is still known everywhere.
  const trace = openTrace(options.trace)
  const saved = await loadCheckpoint(given)
  const [checkpoint, problem] = saved instanceof Error ? [undefined, saved] : [saved, undefined]
  const messages = messagesOf(input, checkpoint)
  const initial = input.state ?? checkpoint?.state ?? {}
  const state = createSharedState(initial)
  const usage: TokenUsage[] = []
  const outbox = createOutbox(sink)
  const ledger = createLedger()
  const { threadId, runId, parentRunId } = input
  const stream = createRunStream({
    threadId,
    runId,
    parentRunId,
    messages,
    state: initial,
    emit: (event) => {
      ledger.see(event)
      outbox.put(event)
    },
    readState: () => state.current,
    onProblem: options.onProblem,
    newId: options.newId,
  })
  return {
    agent,
    input,
    options,
    signal,
    sink,
    shouldStop,
    stream,
    ledger,
    usage,
    messages,
    state,
    checkpoint,
    problem,
    outbox,
    trace,
    scope: undefined,
    isAnswering: false,
  }
}

async function loadCheckpoint({ input, options }: DriveOptions): Promise<Checkpoint | undefined | Error> {
  try {
    const saved = options.checkpoint ?? (await options.checkpoints?.load(input.threadId))
    return saved === undefined || saved === null ? undefined : parseCheckpoint(saved)
  } catch (error) {
    return error instanceof Error ? error : new MillraceError('INVALID_CHECKPOINT', String(error))
  }
}

/**
 * The client's messages, or those that were saved. Some clients put the answer to a question into the history as the
 * result of the call that asked. The tool has still to run, so only a result that was saved here counts.
 */
function messagesOf({ messages }: NormalInput, checkpoint: Checkpoint | undefined): readonly Message[] {
  if (!checkpoint || checkpoint.openInterrupts.length === 0) return messages ?? checkpoint?.messages ?? []
  if (!messages || messages.length === 0) return checkpoint.messages
  const waiting = new Set(checkpoint.openInterrupts.map(({ interrupt }) => interrupt.toolCallId))
  for (const message of checkpoint.messages) if (message.role === 'tool') waiting.delete(message.toolCallId)
  return messages.filter((message) => message.role !== 'tool' || !waiting.has(message.toolCallId))
}
