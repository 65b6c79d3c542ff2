import type { Message, TokenUsage, ToolCall } from '@ag-ui/core'
import { confirmCallIds } from '../../bridge/predict-state.js'
import { MillraceError } from '../../core/errors.js'
import {
  type AgUiEvent,
  type RunStream,
  createRunStream,
  isRejected,
  sumUsage,
} from '../../protocol/index.js'
import type { Agent, SafePoint } from '../contract.js'
import { parseCheckpoint, type Checkpoint } from '../interrupts/checkpoint.js'
import { type RunScope, SharedState } from './context.js'
import type { NormalInput, Outcome, RunOptions, RunSink } from './run.js'
import { openTrace, type RunTrace } from './tracing.js'
import { HiddenSpans } from '../history/hidden-messages.js'
import { originMarkOf } from '../history/message-origin.js'

type Defaulted = 'newId' | 'clock' | 'onProblem' | 'assertActive' | 'graceMs' | 'isPrivateKey'
type Optional =
  | 'checkpoint'
  | 'checkpoints'
  | 'edit'
  | 'identity'
  | 'native'
  | 'onModelRequest'
  | 'values'
  | 'toolTimeoutMs'
  | 'toolResultBytes'
  | 'sizes'
  | 'trace'

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
  /** The calls by which earlier runs asked to confirm predicted state. Agents do not see them. */
  readonly confirmCalls: ReadonlySet<string>
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
  const state = new SharedState(initial, options.sizes?.stateBytes)
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
    confirmCalls: confirmCallIds(messages),
  }
}

/** What every outcome has. */
export function totalsOf({ stream, usage }: ActiveRun): Pick<Outcome, 'messages' | 'state' | 'usage'> {
  const { messages, state } = stream.fold
  return { messages, state, usage: sumUsage(usage) }
}

/** The texts since the last message of the user, except those of agents behind tool calls. Undefined when there are none. */
function textsBefore(messages: readonly Message[]): Set<string> | undefined {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
  const texts = turn.filter(
    (message) =>
      message.role === 'assistant' &&
      message.content !== undefined &&
      (message.subagentRunId === undefined || originMarkOf(message) !== undefined),
  )
  return texts.length === 0 ? undefined : new Set(texts.map(({ id }) => id))
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
 * The tool has not run yet, so only a result in the checkpoint counts.
 */
function startMessages({ messages }: NormalInput, checkpoint: Checkpoint | undefined): readonly Message[] {
  if (!checkpoint || checkpoint.openInterrupts.length === 0) return messages ?? checkpoint?.messages ?? []
  if (!messages || messages.length === 0) return checkpoint.messages
  const interrupted = new Set(checkpoint.openInterrupts.map(({ interrupt }) => interrupt.toolCallId))
  for (const message of checkpoint.messages)
    if (message.role === 'tool') interrupted.delete(message.toolCallId)
  return messages.filter((message) => message.role !== 'tool' || !interrupted.has(message.toolCallId))
}

/**
 * Sends the events of a run to its sink as they are written. Buffers what the sink cannot take yet, and the terminal
 * event. Collects the texts and pending calls for the outcome.
 */
// A class: an accessor in an object literal would give every run an object shape of its own.
export class RunOutput {
  /** Set while the sink cannot take more. Wait for it before the run continues. */
  backPressure: Promise<void> | undefined
  readonly #sink: RunSink
  readonly #waiting: AgUiEvent[] = []
  readonly #hidden = new HiddenSpans()
  #terminal: AgUiEvent | undefined
  #textIds: Set<string> | undefined
  /** Texts of agents behind tool calls: they count when there is no other. */
  #hiddenTextIds: Set<string> | undefined

  constructor(sink: RunSink) {
    this.#sink = sink
  }

  // An arrow function: the run stream calls it for every event.
  readonly write = (event: AgUiEvent): void => {
    switch (event.type) {
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        this.#terminal = event
        return
      case 'SUBAGENT_STARTED':
        this.#hidden.add(event)
        break
      case 'TEXT_MESSAGE_START':
        if ((event.role ?? 'assistant') !== 'assistant') break
        if (this.#hidden.has(event.subagentRunId)) (this.#hiddenTextIds ??= new Set()).add(event.messageId)
        else (this.#textIds ??= new Set()).add(event.messageId)
        break
      default:
    }
    if (this.backPressure) {
      this.#waiting.push(event)
      return
    }
    const wait = this.#sink.send(event)
    if (wait) this.backPressure = this.#sendWaiting(wait)
  }

  /** Sends the rest and the terminal event. */
  async end(outcome: Outcome): Promise<void> {
    while (this.backPressure) await this.backPressure
    if (this.#terminal) await this.#sink.end(this.#terminal, outcome)
  }

  /**
   * The last text that was not rejected, of the agent or of one it runs as part of the conversation. A resumed run may
   * have written all of it before it was stopped.
   */
  lastText(messages: readonly Message[], isResumed: boolean): string {
    const ids = this.#textIds ?? (isResumed ? textsBefore(messages) : undefined) ?? this.#hiddenTextIds
    const last = messages.findLast((message) => ids?.has(message.id) === true && !isRejected(message))
    return last?.role === 'assistant' ? (last.content ?? '') : ''
  }

  /** The calls that this run leaves to the client, and those of `more`. */
  pendingCalls(messages: readonly Message[], more: readonly string[]): ToolCall[] {
    const event = this.#terminal
    const outcome = event?.type === 'RUN_FINISHED' ? event.outcome : undefined
    const ids = new Set([
      ...((outcome?.type === 'success' ? outcome.pendingToolCallIds : undefined) ?? []),
      ...more,
    ])
    if (ids.size === 0) return []
    const calls = messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []) : [],
    )
    return calls.filter(({ id }) => ids.has(id))
  }

  async #sendWaiting(first: Promise<void>): Promise<void> {
    await first
    // The run may write more while this waits.
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) await this.#sink.send(next)
    this.backPressure = undefined
  }
}
