import { aggregateTokenUsage, type Message, type TokenUsage } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import { createRunStream, type RunStream } from '../../protocol/index.js'
import type { Agent, SafePoint } from '../contract.js'
import { parseCheckpoint, type Checkpoint } from '../interrupts/checkpoint.js'
import type { RunScope } from './context.js'
import { RunOutput } from './run-output.js'
import type { NormalInput } from './run-request.js'
import type { Outcome, RunOptions, RunSink } from './run.js'
import { SharedState } from './shared-state.js'
import { openTrace, type RunTrace } from './tracing.js'

type Defaulted = 'newId' | 'clock' | 'onProblem' | 'graceMs'
type Optional =
  'checkpoint' | 'checkpoints' | 'edit' | 'identity' | 'native' | 'values' | 'toolTimeoutMs' | 'trace'

/** The options of a run with the defaults filled in. */
export type SettledOptions = Required<Pick<RunOptions, Defaulted>> & {
  readonly [Name in Optional]: RunOptions[Name] | undefined
}

export interface ExecuteOptions {
  readonly agent: Agent
  readonly input: NormalInput
  readonly options: SettledOptions
  readonly signal: AbortSignal
  readonly sink: RunSink
  readonly shouldStop: (at: SafePoint) => boolean
}

/** A run whose stream has begun. */
export interface ActiveRun extends ExecuteOptions {
  readonly stream: RunStream
  readonly output: RunOutput
  readonly usage: TokenUsage[]
  /** The conversation it starts with. */
  readonly messages: readonly Message[]
  readonly state: SharedState
  readonly checkpoint: Checkpoint | undefined
  /** Why it cannot run. Reported after RUN_STARTED. */
  readonly problem: Error | undefined
  /** What its agents share. Set when they start. */
  scope: RunScope | undefined
  /** Whether it answers interrupts of a checkpoint. */
  isAnswering: boolean
  readonly trace: RunTrace
}

/** Loads the checkpoint and begins the stream. */
export async function beginRun(request: ExecuteOptions): Promise<ActiveRun> {
  const { agent, input, options, signal, sink, shouldStop } = request
  // First, while the caller's trace is still the active one.
  const trace = openTrace(options.trace)
  const saved = await loadCheckpoint(request)
  const [checkpoint, problem] = saved instanceof Error ? [undefined, saved] : [saved, undefined]
  const messages = startMessages(input, checkpoint)
  const initial = input.state ?? checkpoint?.state ?? {}
  const state = new SharedState(initial)
  const output = new RunOutput(sink)
  const { threadId, runId, parentRunId } = input
  const stream = createRunStream({
    threadId,
    runId,
    parentRunId,
    messages,
    state: initial,
    emit: output.write,
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
    output,
    usage: [],
    messages,
    state,
    checkpoint,
    problem,
    trace,
    scope: undefined,
    isAnswering: false,
  }
}

/** What every outcome has. */
export function totalsOf({ stream, usage }: ActiveRun): Pick<Outcome, 'messages' | 'state' | 'usage'> {
  const { messages, state } = stream.fold
  return { messages, state, usage: aggregateTokenUsage(usage) }
}

async function loadCheckpoint({ input, options }: ExecuteOptions): Promise<Checkpoint | undefined | Error> {
  try {
    const saved = options.checkpoint ?? (await options.checkpoints?.load(input.threadId))
    return saved === undefined || saved === null ? undefined : parseCheckpoint(saved)
  } catch (error) {
    return error instanceof Error ? error : new MillraceError('INVALID_CHECKPOINT', String(error))
  }
}

/**
 * The client's messages, or the saved ones. Some clients add the answer to an interrupt as the result of its tool call.
 * The tool has still to run, so only a result in the checkpoint counts.
 */
function startMessages({ messages }: NormalInput, checkpoint: Checkpoint | undefined): readonly Message[] {
  if (!checkpoint || checkpoint.openInterrupts.length === 0) return messages ?? checkpoint?.messages ?? []
  if (!messages || messages.length === 0) return checkpoint.messages
  const interrupted = new Set(checkpoint.openInterrupts.map(({ interrupt }) => interrupt.toolCallId))
  for (const message of checkpoint.messages)
    if (message.role === 'tool') interrupted.delete(message.toolCallId)
  return messages.filter((message) => message.role !== 'tool' || !interrupted.has(message.toolCallId))
}
