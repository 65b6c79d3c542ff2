import type { ToolMessage } from '@ag-ui/core'
import { merge, type MergedLane } from '../../core/merge.js'
import { toolErrorMark, toToolError, type AgentEvent } from '../../protocol/index.js'
import type { Suspension, ToolEnd } from '../contract.js'
import type { CallRequest } from './model-answer.js'
import { runCall, type CallOptions, type CallOutcome, type CallResult } from './tool-call.js'
import { callAddress } from './tool-context.js'

/** The calls of one answer and their results. JSON: it is saved in the checkpoint when a call is interrupted. */
export interface ToolBatch {
  readonly calls: readonly CallRequest[]
  /** Ids of the calls that are for the client. */
  readonly clientCalls: readonly string[]
  readonly results: Record<string, CallResult>
  /** Ids of the calls whose result has been sent. */
  readonly shown: string[]
}

export type BatchOutcome =
  /** Every call has its result: the model continues. */
  | { readonly type: 'answered' }
  /** The result of a tool is the end of the agent, or of the whole run. */
  | {
      readonly type: 'ended'
      readonly control: ToolEnd | { readonly type: 'done'; readonly result: unknown }
    }
  | ({ readonly type: 'interrupted' } & Suspension)
  /** Some calls were stopped at a safe point. */
  | { readonly type: 'cancelled' }
  /** The other calls are for the client to execute. */
  | { readonly type: 'client'; readonly pendingToolCallIds: readonly string[] }

export interface BatchOptions extends Omit<CallOptions, 'signal' | 'onReturned'> {
  /** Called with every result, in the order in which they are sent. */
  readonly onResult: (message: ToolMessage) => void
  readonly onStrayError: (error: unknown) => void
}

type CallLaneItem = AgentEvent | { readonly type: 'settled'; readonly outcome: CallOutcome }

/**
 * Runs the calls that have no result yet in parallel. Results are sent in the order of the calls, those that end the
 * agent last. A call with an unanswered interrupt does not run: it raises the interrupt again.
 */
export async function* runBatch(
  batch: ToolBatch,
  options: BatchOptions,
): AsyncGenerator<AgentEvent, BatchOutcome> {
  const { ctx, onStrayError } = options
  const suspended = new Map<string, Suspension>()
  const open = batch.calls.filter(({ id }) => !batch.results[id] && !batch.clientCalls.includes(id))
  const running = open.filter((call) => {
    const suspension = ctx.resume.openInterruptsAt(callAddress(ctx, call))
    if (suspension) suspended.set(call.id, suspension)
    return !suspension
  })
  const { clock, graceMs } = ctx.services
  const { signal } = ctx
  const lanes = running.map((call) => callLane(call, batch, options))
  const settled = new Set<string>()
  let refused: { readonly error: unknown } | undefined
  let isCancelled = false
  for await (const { lane, value } of merge(lanes, { signal, clock, graceMs, onStrayError })) {
    if (value.type !== 'settled') {
      yield value
      continue
    }
    const { id } = running[lane] ?? { id: '' }
    const { outcome } = value
    settled.add(id)
    if (outcome.type === 'result') batch.results[id] = outcome.result
    else if (outcome.type === 'interrupted') suspended.set(id, outcome)
    else if (outcome.type === 'refused') refused ??= outcome
    else if (outcome.type === 'cancelled') isCancelled = true
    else {
      yield* allResults(batch, options)
      throw outcome.error
    }
    yield* resultsInOrder(batch, options, (call) => settled.has(call.id) || !running.includes(call))
  }
  if (!refused && !isCancelled) return yield* endBatch(batch, options, suspended)
  yield* allResults(batch, options)
  if (refused) throw refused.error
  return { type: 'cancelled' }
}

function callLane(
  call: CallRequest,
  batch: ToolBatch,
  options: BatchOptions,
): MergedLane<CallLaneItem, undefined> {
  const onReturned: CallOptions['onReturned'] = ({ id }, result) => {
    batch.results[id] = result
  }
  return async function* lane(signal) {
    yield { type: 'settled', outcome: yield* runCall(call, { ...options, signal, onReturned }) }
    return undefined
  }
}

/** Sends all results, also those that wait for an earlier call: none may be lost when the run fails. */
function* allResults(batch: ToolBatch, options: BatchOptions): Generator<AgentEvent> {
  for (const call of batch.calls) yield* sendResult(batch, call, options)
}

/** Sends results in order, up to the first call that is still running. */
function* resultsInOrder(
  batch: ToolBatch,
  options: BatchOptions,
  isOver: (call: CallRequest) => boolean,
): Generator<AgentEvent> {
  for (const call of batch.calls) {
    if (!isOver(call)) return
    const result = batch.results[call.id]
    if (result && !isFinal(result)) yield* sendResult(batch, call, options)
  }
}

function* sendResult(
  batch: ToolBatch,
  call: CallRequest,
  { ctx, onResult }: BatchOptions,
): Generator<AgentEvent> {
  const result = batch.results[call.id]
  if (!result || batch.shown.includes(call.id)) return
  batch.shown.push(call.id)
  const { content, isError } = result
  const messageId = ctx.services.newId('message')
  const failed = isError === true
  const message = { toolCallId: call.id, content, ...(failed ? { metadata: toolErrorMark } : {}) }
  onResult({ id: messageId, role: 'tool', ...message, ...(failed ? { error: toToolError(content) } : {}) })
  yield { type: 'TOOL_CALL_RESULT', messageId, ...message }
}

function* endBatch(
  batch: ToolBatch,
  options: BatchOptions,
  suspended: ReadonlyMap<string, Suspension>,
): Generator<AgentEvent, BatchOutcome> {
  if (suspended.size > 0) {
    const inOrder = batch.calls.flatMap(({ id }) => suspended.get(id) ?? [])
    const frames = Object.fromEntries(inOrder.flatMap((one) => Object.entries(one.frames)))
    return {
      type: 'interrupted',
      openInterrupts: inOrder.flatMap(({ openInterrupts }) => openInterrupts),
      frames,
    }
  }
  yield* allResults(batch, options)
  const results = batch.calls.flatMap((call) => batch.results[call.id] ?? [])
  const ends = results.flatMap(({ end }) => end ?? [])
  const exit = ends.find(({ type }) => type === 'exit')
  if (exit) return { type: 'ended', control: exit }
  // Several results may end the agent: the last one wins.
  const direct = results.findLast((result) => result.direct)?.direct
  const pendingToolCallIds = batch.clientCalls.filter((id) => !batch.results[id])
  // An agent that continues after this one needs the results of the client's tools.
  if (pendingToolCallIds.length > 0 && !direct) return { type: 'client', pendingToolCallIds }
  const [control] = ends
  if (control) return { type: 'ended', control }
  return direct ? { type: 'ended', control: { type: 'done', result: direct.value } } : { type: 'answered' }
}

function isFinal({ direct, end }: CallResult): boolean {
  return direct !== undefined || end !== undefined
}
