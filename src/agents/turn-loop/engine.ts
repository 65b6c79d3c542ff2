import type { Message } from '@ag-ui/core'
import type { IdSource } from '../../core/ids.js'
import type { AgUiEvent } from '../../protocol/index.js'
import type { Agent } from '../contract.js'
import type { RunBuffer } from '../run/run-buffer.js'
import { startRun, type Outcome, type StartedRun } from '../run/run.js'
import type { RunFields } from '../run/run-request.js'
import { afterTurn, duringTurn, nextTurn, type Held, type TurnPlan, type TurnTaken } from './held.js'
import type { TurnLoopOptions } from './turn-loop.js'

/** A turn at work. */
export interface Turn extends TurnTaken {
  readonly run: StartedRun
  readonly taken: readonly Message[]
  /** The tool calls made so far. */
  readonly calls: Set<string>
  isPreempted: boolean
  isGivenUp: boolean
  isStopped: boolean
  /** Set when its end is known, and its last event may still have to be taken. */
  isOver: boolean
}

/** A loop, seen from inside. */
export interface Loop {
  readonly agent: Agent
  readonly options: TurnLoopOptions
  readonly threadId: string
  readonly newId: IdSource
  readonly buffer: RunBuffer
  /** Who waits until nothing is at work. */
  readonly waiting: (() => void)[]
  /** Lets go of the signal. */
  readonly release: () => void
  held: Held
  turn: Turn | undefined
  outcome: Outcome | undefined
  isStopping: boolean
}

/** Whether a turn is at work, or about to begin. */
export function isAtWork({ turn, isStopping, held }: Loop): boolean {
  return turn !== undefined && (!turn.isOver || (!isStopping && nextTurn(held) !== undefined))
}

/** Resolves when no turn is at work. From now on nobody has to read the events. */
export function whenAtRest(loop: Loop): Promise<void> {
  loop.buffer.wantResult()
  return loop.turn ? new Promise((resolve) => loop.waiting.push(resolve)) : Promise.resolve()
}

/** Begins the next turn if there is one and none is at work. Called after every change. */
export function advance(loop: Loop): void {
  if (loop.turn) return
  const plan = loop.isStopping ? undefined : nextTurn(loop.held)
  if (plan) {
    begin(loop, plan)
    return
  }
  if (loop.isStopping) {
    loop.release()
    loop.buffer.close()
  }
  for (const rest of loop.waiting.splice(0)) rest()
}

function begin(loop: Loop, plan: TurnPlan): void {
  const { agent, options, held, newId, buffer } = loop
  const calls = new Set<string>()
  const send = (event: AgUiEvent): Promise<void> | undefined => {
    if (event.type === 'TOOL_CALL_START') calls.add(event.toolCallId)
    return buffer.push(event)
  }
  const end = (event: AgUiEvent, outcome: Outcome): Promise<void> | undefined => {
    // First of all: who reads the last event may answer at once.
    settle(loop, turn, outcome)
    return buffer.push(event)
  }
  const { checkpoint } = held
  const run = startRun(agent, requestOf(loop, plan), { ...options, newId, checkpoint, sink: { send, end } })
  const { taken } = plan
  const flags = { isPreempted: false, isGivenUp: false, isStopped: false, isOver: false }
  const turn: Turn = { before: held, taken, calls, run, ...flags }
  loop.turn = turn
  loop.held = duringTurn(held, plan)
  void run.result.then(() => {
    loop.turn = undefined
    advance(loop)
  })
}

function requestOf({ threadId, held, options }: Loop, { fields }: TurnPlan): RunFields {
  const { tools = [], context = [], forwardedProps } = options
  return { threadId, state: held.state, tools, context, forwardedProps, ...fields }
}

function settle(loop: Loop, turn: Turn, outcome: Outcome): void {
  turn.isOver = true
  loop.outcome = outcome
  loop.held = afterTurn(loop.held, turn, outcome)
}
