import type { Message, ResumeEntry } from '@ag-ui/core'
import { systemClock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { randomIds, type IdSource } from '../../core/ids.js'
import type { AgUiEvent } from '../../protocol/index.js'
import { checkAgent } from '../check-agent.js'
import type { Agent } from '../contract.js'
import { sortAnswers } from '../interrupts/resume.js'
import { createRunBuffer, type RunBuffer } from '../run/run-buffer.js'
import { startRun, type Outcome, type StartedRun } from '../run/run.js'
import type { PushedMessages, PushOptions, StopOptions, TurnLoop, TurnLoopOptions } from './contract.js'
import {
  abandonTurn,
  hasCall,
  hasResult,
  initialState,
  openInterruptsOf,
  pendingToolCallsOf,
  planNextTurn,
  stateAfterTurn,
  stateDuringTurn,
  type EndedTurn,
  type TurnLoopState,
  type NextTurn,
} from './loop-state.js'
import { parseSavedLoop, saveLoop } from './saved-loop.js'

/**
 * Creates a loop that runs an agent turn by turn, and takes messages at any time, even while a turn is running. The
 * conversation, the state and open interrupts are carried from turn to turn. A turn that fails ends with RUN_ERROR; the
 * loop continues. Throws INVALID_CHECKPOINT if `saved` cannot be read.
 *
 * @example
 * const loop = createTurnLoop(agent)
 * loop.push('Plan a trip to Oslo.')
 * loop.push('No, to Bergen!', { mode: 'after-tools' })
 * for await (const event of loop.events) show(event)
 */
export function createTurnLoop(agent: Agent, options: TurnLoopOptions = {}): TurnLoop {
  checkAgent(agent, 'The agent of `createTurnLoop`')
  const loop = createLoop(agent, options)
  advance(loop)
  return {
    threadId: loop.threadId,
    get status() {
      if (isRunning(loop)) return 'running'
      if (loop.isStopping) return 'stopped'
      const { loopState } = loop
      const isOpen = openInterruptsOf(loopState).length > 0 || pendingToolCallsOf(loopState).length > 0
      return isOpen ? 'waiting' : 'idle'
    },
    get messages() {
      return loop.loopState.messages
    },
    get state() {
      return loop.loopState.state
    },
    get openInterrupts() {
      return openInterruptsOf(loop.loopState)
    },
    get pendingToolCalls() {
      return pendingToolCallsOf(loop.loopState)
    },
    get unhandled() {
      return loop.loopState.queue
    },
    get outcome() {
      return loop.outcome
    },
    events: { [Symbol.asyncIterator]: () => loop.buffer.read() },
    push: (messages, how) => pushMessages(loop, messages, how),
    answer: (entries) => answerInterrupts(loop, entries),
    idle: () => waitUntilIdle(loop),
    stop: (how) => stopLoop(loop, how),
    save() {
      const { loopState, turn, threadId } = loop
      if (!turn || turn.isOver) return saveLoop(threadId, loopState)
      return saveLoop(threadId, { ...turn.before, queue: [...turn.queued, ...loopState.queue] })
    },
  }
}

interface ActiveLoop {
  readonly agent: Agent
  readonly options: TurnLoopOptions
  readonly threadId: string
  readonly newId: IdSource
  readonly buffer: RunBuffer
  /** Resolve the promises of `waitUntilIdle`. */
  readonly idleCallbacks: (() => void)[]
  readonly removeAbortListener: () => void
  loopState: TurnLoopState
  turn: Turn | undefined
  outcome: Outcome | undefined
  isStopping: boolean
}

/** The running turn. */
interface Turn extends EndedTurn {
  readonly run: StartedRun
  readonly queued: readonly Message[]
  /** The tool calls so far. */
  readonly calls: Set<string>
  isPreempted: boolean
  isAbandoned: boolean
  isStopped: boolean
  /** Its outcome is known, but its last event may still wait for the reader. */
  isOver: boolean
}

function createLoop(agent: Agent, options: TurnLoopOptions): ActiveLoop {
  const { saved, signal, newId = randomIds, bufferSize = 256 } = options
  const start =
    saved === undefined || saved === null
      ? { threadId: options.threadId ?? newId('thread'), loopState: initialState(options) }
      : parseSavedLoop(saved)
  const stopNow = (): void => void stopLoop(loop, { at: 'now' })
  const loop: ActiveLoop = {
    agent,
    options,
    newId,
    ...start,
    buffer: createRunBuffer({ capacity: bufferSize, onAbandoned: stopNow }),
    idleCallbacks: [],
    removeAbortListener: () => signal?.removeEventListener('abort', stopNow),
    turn: undefined,
    outcome: undefined,
    isStopping: false,
  }
  if (signal?.aborted === true) stopNow()
  else signal?.addEventListener('abort', stopNow, { once: true })
  return loop
}

/** Whether a turn is running or about to start. */
function isRunning({ turn, isStopping, loopState }: ActiveLoop): boolean {
  return turn !== undefined && (!turn.isOver || (!isStopping && planNextTurn(loopState) !== undefined))
}

/** Makes reading the events optional from now on. */
function waitUntilIdle(loop: ActiveLoop): Promise<void> {
  loop.buffer.wantResult()
  return loop.turn ? new Promise((resolve) => loop.idleCallbacks.push(resolve)) : Promise.resolve()
}

/** Starts the next turn if there is one and none is running. Called after every change. */
function advance(loop: ActiveLoop): void {
  if (loop.turn) return
  const next = loop.isStopping ? undefined : planNextTurn(loop.loopState)
  if (next) {
    startTurn(loop, next)
    return
  }
  if (loop.isStopping) {
    loop.removeAbortListener()
    loop.buffer.close()
  }
  for (const resolve of loop.idleCallbacks.splice(0)) resolve()
}

function startTurn(loop: ActiveLoop, next: NextTurn): void {
  const { agent, options, loopState, threadId, newId, buffer } = loop
  const { tools = [], context = [], forwardedProps } = options
  const calls = new Set<string>()
  const send = (event: AgUiEvent): Promise<void> | undefined => {
    if (event.type === 'TOOL_CALL_START') calls.add(event.toolCallId)
    return buffer.push(event)
  }
  const end = (event: AgUiEvent, outcome: Outcome): Promise<void> | undefined => {
    // Set before the push: a reader of the last event may answer at once.
    turn.isOver = true
    loop.outcome = outcome
    loop.loopState = stateAfterTurn(loop.loopState, turn, outcome)
    return buffer.push(event)
  }
  const request = { threadId, state: loopState.state, tools, context, forwardedProps, ...next.input }
  const { checkpoint } = loopState
  const run = startRun(agent, request, { ...options, newId, checkpoint, sink: { send, end } })
  const flags = { isPreempted: false, isAbandoned: false, isStopped: false, isOver: false }
  const turn: Turn = { before: loopState, queued: next.queued, calls, run, ...flags }
  loop.turn = turn
  loop.loopState = stateDuringTurn(loopState, next)
  void run.result.then(() => {
    loop.turn = undefined
    advance(loop)
  })
}

function pushMessages(
  loop: ActiveLoop,
  pushed: PushedMessages,
  { mode = 'queue', ...limit }: PushOptions = {},
): void {
  checkNotStopped(loop)
  const messages = toMessages(pushed, loop.newId)
  for (const message of messages) checkCallExists(loop, message, messages)
  const before = loop.loopState.queue.length
  for (const message of messages) if (!isKnown(loop, message)) enqueue(loop, message)
  if (loop.loopState.queue.length === before) return
  const { turn } = loop
  if (turn && !turn.isOver) preemptTurn(turn, { mode, ...limit })
  // A turn that waits for the client is at a safe point.
  else if (mode === 'preempt' || mode === 'now') loop.loopState = abandonTurn(loop.loopState)
  advance(loop)
}

/** Throws INVALID_INPUT for anything but messages. */
function toMessages(pushed: PushedMessages, newId: IdSource): readonly Message[] {
  if (typeof pushed === 'string') return [{ id: newId('message'), role: 'user', content: pushed }]
  const messages = isMessageList(pushed) ? pushed : [pushed]
  if (messages.some(({ id, role }) => typeof id !== 'string' || typeof role !== 'string'))
    throw new MillraceError('INVALID_INPUT', 'Every message needs an id and a role.')
  return messages
}

// Array.isArray does not narrow a readonly array.
function isMessageList(pushed: Message | readonly Message[]): pushed is readonly Message[] {
  return Array.isArray(pushed)
}

function preemptTurn(turn: Turn, { mode, ...limit }: PushOptions): void {
  if (mode === 'queue') return
  turn.isPreempted = true
  turn.isAbandoned ||= mode !== 'after-tools'
  if (mode === 'now') turn.run.cancel()
  else turn.run.cancel({ at: mode === 'preempt' ? 'model' : 'tools', ...limit })
}

function enqueue(loop: ActiveLoop, message: Message): void {
  loop.loopState = { ...loop.loopState, queue: [...loop.loopState.queue, message] }
}

function isKnown({ loopState, turn }: ActiveLoop, message: Message): boolean {
  const inTurn = turn && !turn.isOver ? turn.queued : []
  const known = [...loopState.messages, ...inTurn, ...loopState.queue]
  if (known.some(({ id }) => id === message.id)) return true
  return message.role === 'tool' && hasResult(known, message.toolCallId)
}

function checkCallExists(
  { loopState, turn }: ActiveLoop,
  message: Message,
  pushed: readonly Message[],
): void {
  if (message.role !== 'tool') return
  const { toolCallId } = message
  const known = [...loopState.messages, ...loopState.queue, ...pushed]
  if (turn?.calls.has(toolCallId) === true || hasCall(known, toolCallId)) return
  const details = { toolCallId }
  throw new MillraceError('NO_TOOL_RESULTS', `No call '${toolCallId}' was made that this answers.`, {
    details,
  })
}

function answerInterrupts(loop: ActiveLoop, entries: readonly ResumeEntry[]): void {
  checkNotStopped(loop)
  const open = openInterruptsOf(loop.loopState).map(({ id }) => id)
  const { error } = sortAnswers(entries, { open, answered: [] })
  if (error) throw error
  loop.loopState = { ...loop.loopState, answers: [...loop.loopState.answers, ...entries] }
  advance(loop)
}

function stopLoop(loop: ActiveLoop, { at = 'end', ...limit }: StopOptions = {}): Promise<void> {
  loop.isStopping = true
  const { turn } = loop
  if (turn && !turn.isOver) {
    turn.isStopped = true
    if (at !== 'end') turn.run.cancel({ at, ...limit })
    else if (limit.timeoutMs !== undefined) cancelAfter(loop, turn, limit.timeoutMs)
  }
  advance(loop)
  return waitUntilIdle(loop)
}

function cancelAfter({ options }: ActiveLoop, { run }: Turn, timeoutMs: number): void {
  const { clock = systemClock } = options
  const clearTimer = clock.schedule(timeoutMs, () => run.cancel())
  void run.result.then(clearTimer)
}

function checkNotStopped({ isStopping }: ActiveLoop): void {
  if (isStopping) throw new MillraceError('RUN_CLOSED', 'The turn loop was stopped and takes nothing more.')
}
