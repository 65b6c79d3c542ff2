import type { ToolMessage } from '@ag-ui/core'
import { merge, type Lane } from '../../core/merge.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Suspension, ToolEnd } from '../contract.js'
import type { CallRequest } from './answer.js'
import { runCall, type CallOptions, type CallOutcome, type CallResult } from './tool-call.js'
import { callAddress } from './tool-context.js'

/** The calls of one answer and what became of them. JSON: it waits in the checkpoint when one of them asks. */
export interface Batch {
  readonly calls: readonly CallRequest[]
  /** Ids of the calls that are for the client. */
  readonly clientCalls: readonly string[]
  readonly results: Record<string, CallResult>
  /** Calls whose result has been sent. */
  readonly shown: string[]
}

export type BatchOutcome =
  /** Every call has its result: the model goes on. */
  | { readonly type: 'answered' }
  /** The result of a tool is the end of the agent, or of the whole run. */
  | {
      readonly type: 'ended'
      readonly control: ToolEnd | { readonly type: 'done'; readonly result: unknown }
    }
  | ({ readonly type: 'interrupted' } & Suspension)
  /** Some were stopped at a safe point. */
  | { readonly type: 'cancelled' }
  /** The rest is for the client to do. */
  | { readonly type: 'client'; readonly pendingToolCallIds: readonly string[] }

export interface BatchOptions extends Omit<CallOptions, 'signal' | 'onReturned'> {
  /** Told of every result, in the order in which they are sent. */
  readonly onResult: (message: ToolMessage) => void
  readonly onStrayError: (error: unknown) => void
}

type LaneItem = AgentEvent | { readonly type: 'settled'; readonly outcome: CallOutcome }

/**
 * Runs the calls that have no result yet, side by side. Results are sent in the order of the calls, those that end
 * the agent last. A call that waits for an answer it did not get is not run again: its question is asked again.
 */
export async function* runBatch(
  batch: Batch,
  options: BatchOptions,
): AsyncGenerator<AgentEvent, BatchOutcome> {
  const { ctx, onStrayError } = options
  const waiting = new Map<string, Suspension>()
  const open = batch.calls.filter(({ id }) => !batch.results[id] && !batch.clientCalls.includes(id))
  const running = open.filter((call) => {
    const asked = ctx.resume.openInterruptsAt(callAddress(ctx, call))
    if (asked) waiting.set(call.id, asked)
    return !asked
  })
  const { clock, graceMs } = ctx.services
  const { signal } = ctx
  const lanes = running.map((call) => laneOf(call, batch, options))
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
    else if (outcome.type === 'interrupted') waiting.set(id, outcome)
    else if (outcome.type === 'refused') refused ??= outcome
    else if (outcome.type === 'cancelled') isCancelled = true
    else {
      yield* allResults(batch, options)
      throw outcome.error
    }
    yield* resultsInOrder(batch, options, (call) => settled.has(call.id) || !running.includes(call))
  }
  if (!refused && !isCancelled) return yield* conclude(batch, options, waiting)
  yield* allResults(batch, options)
  if (refused) throw refused.error
  return { type: 'cancelled' }
}

function laneOf(call: CallRequest, batch: Batch, options: BatchOptions): Lane<LaneItem, undefined> {
  const onReturned: CallOptions['onReturned'] = ({ id }, result) => {
    batch.results[id] = result
  }
  return async function* lane(signal) {
    yield { type: 'settled', outcome: yield* runCall(call, { ...options, signal, onReturned }) }
    return undefined
  }
}

/** Also those that wait for their turn: what is done must be known when the run breaks off. */
function* allResults(batch: Batch, options: BatchOptions): Generator<AgentEvent> {
  for (const call of batch.calls) yield* show(batch, call, options)
}

/** The results that may be sent now: up to the first call that is still at work. */
function* resultsInOrder(
  batch: Batch,
  options: BatchOptions,
  isOver: (call: CallRequest) => boolean,
): Generator<AgentEvent> {
  for (const call of batch.calls) {
    if (!isOver(call)) return
    const result = batch.results[call.id]
    if (result && !isFinal(result)) yield* show(batch, call, options)
  }
}

function* show(batch: Batch, call: CallRequest, { ctx, onResult }: BatchOptions): Generator<AgentEvent> {
  const result = batch.results[call.id]
  if (!result || batch.shown.includes(call.id)) return
  batch.shown.push(call.id)
  const { content, isError } = result
  const messageId = ctx.services.newId('message')
  const told = {
    toolCallId: call.id,
    content,
    ...(isError === true ? { metadata: { millrace: { isError } } } : {}),
  }
  onResult({ id: messageId, role: 'tool', ...told })
  yield { type: 'TOOL_CALL_RESULT', messageId, ...told }
}

function* conclude(
  batch: Batch,
  options: BatchOptions,
  waiting: ReadonlyMap<string, Suspension>,
): Generator<AgentEvent, BatchOutcome> {
  if (waiting.size > 0) {
    const paused = batch.calls.flatMap(({ id }) => waiting.get(id) ?? [])
    const frames = Object.fromEntries(paused.flatMap((one) => Object.entries(one.frames)))
    return {
      type: 'interrupted',
      openInterrupts: paused.flatMap(({ openInterrupts }) => openInterrupts),
      frames,
    }
  }
  yield* allResults(batch, options)
  const results = batch.calls.flatMap((call) => batch.results[call.id] ?? [])
  const ends = results.flatMap(({ end }) => end ?? [])
  const exit = ends.find(({ type }) => type === 'exit')
  if (exit) return { type: 'ended', control: exit }
  // Several results may end the agent: the last one is the one that does.
  const direct = results.findLast((result) => result.direct)?.direct
  const pendingToolCallIds = batch.clientCalls.filter((id) => !batch.results[id])
  // Whoever goes on after this agent is to hear what the client's tools gave.
  if (pendingToolCallIds.length > 0 && !direct) return { type: 'client', pendingToolCallIds }
  const [control] = ends
  if (control) return { type: 'ended', control }
  return direct ? { type: 'ended', control: { type: 'done', result: direct.value } } : { type: 'answered' }
}

function isFinal({ direct, end }: CallResult): boolean {
  return direct !== undefined || end !== undefined
}
