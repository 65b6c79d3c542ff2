import type {
  Context,
  Interrupt,
  Message,
  ResumeEntry,
  TokenUsage,
  Tool as ToolInfo,
  ToolCall,
} from '@ag-ui/core'
import type { Context as TraceContext } from '@opentelemetry/api'
import type { NativeHooks } from '../../bridge/native-hooks.js'
import { linkAbort } from '../../core/abort.js'
import { systemClock, type Clock } from '../../core/clock.js'
import { type IdSource, randomIds } from '../../core/ids.js'
import { uniqueMessages, upgradeBinaryParts, type AgentEvent, type AgUiEvent } from '../../protocol/index.js'
import type { SettledOptions } from './active-run.js'
import type { Agent, Identity, ModelObserver, SafePoint } from '../contract.js'
import type { Checkpoint } from '../interrupts/checkpoint.js'
import { checkAgent } from '../check-agent.js'
import { executeRun } from './execute.js'
import { scheduleTimeout } from './limits.js'
import { createRunBuffer } from './run-buffer.js'
import type { SizeLimits } from './size-limits.js'
import { MillraceError } from '../../core/errors.js'

/** Stores checkpoints, one per thread. `save` resolves when the checkpoint is durable. */
export interface CheckpointStore {
  load(threadId: string): Promise<unknown>
  save(threadId: string, checkpoint: Checkpoint): Promise<void>
}

export interface RunOptions {
  /** Stops the run at once when it aborts: cancelled, or failed when the reason is a `MillraceError`. */
  readonly signal?: AbortSignal
  /** The checkpoint to resume from, as JSON. `resume` in the request has the answers. */
  readonly checkpoint?: unknown
  /** Loads and saves the checkpoint of the thread. */
  readonly checkpoints?: CheckpointStore
  /** The app and the user of the run. Default: app `default`, user `local`. */
  readonly identity?: Identity
  /** Edits every event of the agents before it becomes part of the stream. */
  readonly edit?: EventEdit | undefined
  /** Hooks on the native events of foreign runtimes. */
  readonly native?: NativeHooks | undefined
  /** Is told of each request to a model. */
  readonly onModelRequest?: ModelObserver | undefined
  /** Initial values that the agents and tools of this run share. */
  readonly values?: Readonly<Record<string, unknown>>
  /** How many events may wait for a slow reader before the run waits too. Default 256. */
  readonly bufferSize?: number
  /** How long the run may take unless its agent has its own limit, in milliseconds. Default: no limit. */
  readonly runTimeoutMs?: number
  /** How long a tool call may take unless the tool or its agent has its own limit, in milliseconds. Default: no limit. */
  readonly toolTimeoutMs?: number
  /** How large the result of a tool may be, in bytes of its JSON: the model gets an error for a larger one. Default: no limit. */
  readonly toolResultBytes?: number
  /** How large events and what they add up to may be. Default: no limit. */
  readonly sizes?: SizeLimits
  /** Called before each model call and tool call. Throws to stop the run there. */
  readonly assertActive?: () => void
  /**
   * Whether you keep a key of the state from clients: you take no value for it from them, and leave it out of what you send
   * to them. `Agent.privateKeys` has those that an agent wants to be kept. Default: none.
   */
  readonly isPrivateKey?: (key: string) => boolean
  /** How long cancelled agents and tools may take to clean up, in milliseconds. Default 1000. */
  readonly graceMs?: number
  /** Called with problems that are no failure: repaired, ignored, too late to matter. Must not throw. */
  readonly onProblem?: (problem: string, error?: unknown) => void
  /** The parent of the run's trace spans. Default: the active one. */
  readonly trace?: TraceContext
  readonly newId?: IdSource
  readonly clock?: Clock
}

/** Where the events of a run go. */
export interface RunSink {
  /** Takes an event. Returns a promise when the run has to wait before it continues. Must not throw or reject. */
  readonly send: (event: AgUiEvent) => Promise<void> | undefined
  /**
   * Takes the terminal event, with the outcome. Called once, when all work of the run has ended: what is saved
   * here is safe before anybody sees the end. Must not throw or reject.
   */
  readonly end: (event: AgUiEvent, outcome: Outcome) => Promise<void> | undefined
}

/** Returns the event, or any number of events, to use instead. An error it throws fails the run. */
export type EventEdit = (event: AgentEvent) => AgentEvent | AsyncIterable<AgentEvent>

export interface StartOptions extends Omit<RunOptions, 'bufferSize' | 'signal'> {
  readonly sink: RunSink
  /** Stops the run when it aborts, as `signal` of `run` does. */
  readonly controller?: AbortController
}

interface Ended {
  /** The conversation with all messages of this run. */
  readonly messages: readonly Message[]
  readonly state: unknown
  readonly usage: readonly TokenUsage[]
}

/** How a run ended. */
export type Outcome = Ended &
  (
    | {
        readonly type: 'completed'
        /** The last text of the agent itself; of a subagent when the agent wrote none. */
        readonly text: string
        /** The result of the agent or its last tool, structured output for example. */
        readonly result?: unknown
        /** Calls of client tools. Run again with their results in `messages`. */
        readonly pendingToolCalls: readonly ToolCall[]
        /** Resumes the agents that wait for those results. */
        readonly checkpoint?: Checkpoint
      }
    | {
        readonly type: 'interrupted'
        readonly interrupts: readonly Interrupt[]
        readonly checkpoint: Checkpoint
      }
    | ({ readonly type: 'cancelled' } & Retriable)
    | ({ readonly type: 'failed'; readonly error: unknown } & Retriable)
  )

interface Retriable {
  /**
   * Resumes the run; finished work is not done again. Leave out `messages` after a cancelled run; send the same answers
   * after a resumed one.
   */
  readonly checkpoint?: Checkpoint
}

export interface CancelOptions {
  /** At once, after the model has answered, or after the tools it called have run. Default: at once. */
  readonly at?: 'now' | SafePoint
  /** After this time the run is cancelled at once, even before the safe point. */
  readonly timeoutMs?: number
}

/**
 * A started run. It begins at once and can be read once, as AG-UI events. A reader that stops early cancels it. A caller
 * that only awaits the result need not read: then events beyond the buffer are dropped.
 */
export interface Run extends StartedRun, AsyncIterable<AgUiEvent> {}

/** A started run. */
export interface StartedRun {
  readonly threadId: string
  readonly runId: string
  /** Never rejects: a failure is an outcome. */
  readonly result: Promise<Outcome>
  /** Returns false when the run was already over. */
  cancel(options?: CancelOptions): boolean
}

/**
 * Runs an agent.
 *
 * @example
 * for await (const event of run(agent, 'Is it raining in Oslo?')) console.log(event)
 * const outcome = await run(agent, 'Is it raining in Oslo?').result
 */
export function run(agent: Agent, request: RunRequest, options: RunOptions = {}): Run {
  const buffer = createRunBuffer({
    capacity: options.bufferSize ?? 256,
    onAbandoned: () => started.cancel(),
  })
  const push = (event: AgUiEvent): Promise<void> | undefined => buffer.push(event)
  const controller = new AbortController()
  const release = linkAbort(options.signal, controller)
  const started = startRun(agent, request, { ...options, controller, sink: { send: push, end: push } })
  void started.result.finally(() => {
    release()
    buffer.close()
  })
  return {
    ...started,
    get result() {
      buffer.wantResult()
      return started.result
    },
    [Symbol.asyncIterator]: () => buffer.read(),
  }
}

/** Runs an agent whose events go straight to a sink, as a server needs it. */
export function startRun(agent: Agent, request: RunRequest, options: StartOptions): StartedRun {
  const { newId = randomIds, onProblem = ignoreProblem } = options
  const fields = toFields(request, newId)
  return startCheckedRun(agent, withCheckedMessages(fields, onProblem), options)
}

/** Does the same for messages that are checked already, by `parseRunInput`: it does not look at each of them again. */
export function startCheckedRun(agent: Agent, fields: RunFields, options: StartOptions): StartedRun {
  checkAgent(agent)
  const settled = settledOptions(options)
  const { clock } = settled
  const input = normalInput(fields, settled)
  const { controller = new AbortController() } = options
  let stopAt: SafePoint | undefined
  let isOver = false
  const runTimeoutMs = agent.limits?.runTimeoutMs ?? options.runTimeoutMs ?? Infinity
  const cancelTimeout = scheduleTimeout(settled, runTimeoutMs, controller)

  const outcome = executeRun({
    agent,
    input,
    options: settled,
    signal: controller.signal,
    sink: options.sink,
    // A run asked to stop after the model also stops after tools that are already running.
    shouldStop: (at) => stopAt === at || (at === 'tools' && stopAt === 'model'),
  }).finally(() => {
    isOver = true
    cancelTimeout()
  })

  return {
    threadId: input.threadId,
    runId: input.runId,
    result: outcome,
    cancel({ at = 'now', timeoutMs } = {}) {
      if (isOver) return false
      if (at === 'now') controller.abort()
      // Keep `model`, which comes first.
      else if (stopAt !== 'model') stopAt = at
      if (at !== 'now' && timeoutMs !== undefined) {
        const cancelTimer = clock.schedule(timeoutMs, () => controller.abort())
        void outcome.finally(cancelTimer)
      }
      return true
    },
  }
}

/** Lists each option by name: a spread would give every run an object shape of its own. */
function settledOptions(options: StartOptions): SettledOptions {
  const { checkpoint, checkpoints, edit, identity, native, onModelRequest, values, trace } = options
  const { toolTimeoutMs, toolResultBytes, sizes } = options
  const { newId = randomIds, clock = systemClock, onProblem = ignoreProblem, graceMs = 1000 } = options
  const { assertActive = alwaysActive } = options
  const { isPrivateKey = never } = options
  return {
    checkpoint,
    checkpoints,
    identity,
    edit,
    native,
    onModelRequest,
    values,
    toolTimeoutMs,
    toolResultBytes,
    sizes,
    isPrivateKey,
    trace,
    newId,
    clock,
    onProblem,
    assertActive,
    graceMs,
  }
}

function alwaysActive(): void {
  // Nobody else can take the thread.
}

function never(): boolean {
  return false
}

function ignoreProblem(): void {
  // Without a listener, problems are ignored.
}

/** A text, messages, or the fields of an AG-UI RunAgentInput. */
export type RunRequest = string | readonly Message[] | RunFields

export interface RunFields {
  readonly threadId?: string
  readonly runId?: string
  readonly parentRunId?: string | undefined
  /** The whole conversation. Optional when a run is resumed: the checkpoint has it. */
  readonly messages?: readonly Message[]
  readonly state?: unknown
  readonly tools?: readonly ToolInfo[]
  readonly context?: readonly Context[]
  readonly forwardedProps?: unknown
  readonly resume?: readonly ResumeEntry[]
}

export interface NormalInput extends Omit<RunFields, 'messages'> {
  readonly threadId: string
  readonly runId: string
  readonly messages: readonly Message[] | undefined
  readonly tools: readonly ToolInfo[]
  readonly context: readonly Context[]
  readonly resume: readonly ResumeEntry[]
}

/** Throws INVALID_INPUT for messages without an id or a role. They may be those of a client before 1.0. */
function withCheckedMessages(fields: RunFields, onProblem: (problem: string) => void): RunFields {
  const { messages } = fields
  if (!messages) return fields
  if (messages.some((message) => typeof message.id !== 'string' || typeof message.role !== 'string'))
    throw new MillraceError('INVALID_INPUT', 'messages: every message needs an id and a role.')
  const unique = uniqueMessages([...messages])
  for (const { field, message } of unique.issues)
    throw new MillraceError('INVALID_INPUT', `${field}: ${message}`)
  const upgraded = upgradeBinaryParts(unique.messages, onProblem)
  return upgraded === messages ? fields : { ...fields, messages: upgraded }
}

/** Fills in what a request leaves out. */
function normalInput(fields: RunFields, { newId, checkpoint }: SettledOptions): NormalInput {
  const { messages, parentRunId, state, forwardedProps } = fields
  return {
    threadId: fields.threadId ?? threadOf(checkpoint) ?? newId('thread'),
    runId: fields.runId ?? newId('run'),
    parentRunId,
    messages,
    state,
    forwardedProps,
    tools: fields.tools ?? [],
    context: fields.context ?? [],
    resume: fields.resume ?? [],
  }
}

function threadOf(checkpoint: unknown): string | undefined {
  const threadId: unknown = Reflect.get(Object(checkpoint) as object, 'threadId')
  return typeof threadId === 'string' ? threadId : undefined
}

function toFields(request: RunRequest, newId: IdSource): RunFields {
  if (typeof request === 'string')
    return { messages: [{ id: newId('message'), role: 'user', content: request }] }
  return isList(request) ? { messages: request } : request
}

// Array.isArray does not narrow a readonly array.
function isList(request: readonly Message[] | RunFields): request is readonly Message[] {
  return Array.isArray(request)
}
