import { merge } from '../../core/merge.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Frames, Point } from '../checkpoint.js'
import type { CallRequest } from './draft.js'
import { callAddress, runCall, type CallOptions, type CallOutcome, type CallResult } from './tool-call.js'

/** The calls of one answer and what became of them. JSON: it waits in the checkpoint when one of them asks. */
export interface Batch {
  readonly calls: readonly CallRequest[]
  readonly results: Record<string, CallResult>
  /** Calls whose result has been sent. */
  readonly shown: string[]
}

export type BatchOutcome =
  /** Every call has its result: the model goes on. */
  | { readonly type: 'answered' }
  /** The result of a tool is the end of the agent, or of the whole run. */
  | { readonly type: 'ended'; readonly control: { readonly type: 'done' | 'exit'; readonly result: unknown } }
  | { readonly type: 'interrupted'; readonly points: readonly Point[]; readonly frames: Frames }
  /** The rest is for the client to do. */
  | { readonly type: 'client' }

export interface BatchOptions extends Omit<CallOptions, 'signal'> {
  readonly isClientCall: (call: CallRequest) => boolean
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
  const { ctx } = options
  const waiting = new Map<string, { points: readonly Point[]; frames: Frames }>()
  const open = batch.calls.filter((call) => !batch.results[call.id] && !options.isClientCall(call))
  const running = open.filter((call) => {
    const asked = ctx.openPoints(callAddress(ctx, call))
    if (asked.points.length === 0 || asked.isAnswered) return true
    waiting.set(call.id, asked)
    return false
  })
  const lanes = running.map(
    (call) =>
      async function* lane(signal: AbortSignal): AsyncGenerator<LaneItem, undefined> {
        yield { type: 'settled', outcome: yield* runCall(call, { ...options, signal }) }
        return undefined
      },
  )
  const settled = new Set<string>()
  for await (const { lane, value } of merge(lanes, {
    signal: ctx.signal,
    clock: ctx.clock,
    onStrayError: options.onStrayError,
  })) {
    if (value.type !== 'settled') {
      yield value
      continue
    }
    const { id } = running[lane] ?? { id: '' }
    const { outcome } = value
    if (outcome.type === 'failed') throw outcome.error
    if (outcome.type === 'interrupted') waiting.set(id, outcome)
    else batch.results[id] = outcome.result
    settled.add(id)
    yield* resultsInOrder(batch, options, (call) => settled.has(call.id) || !running.includes(call))
  }
  return yield* conclude(batch, options, [...waiting.values()])
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

function* show(batch: Batch, call: CallRequest, { ctx }: BatchOptions): Generator<AgentEvent> {
  const result = batch.results[call.id]
  if (!result || batch.shown.includes(call.id)) return
  batch.shown.push(call.id)
  yield {
    type: 'TOOL_CALL_RESULT',
    messageId: ctx.newId('message'),
    toolCallId: call.id,
    content: typeof result.content === 'string' ? result.content : [...result.content],
    ...(result.isError === true ? { metadata: { millrace: { isError: true } } } : {}),
  }
}

function* conclude(
  batch: Batch,
  options: BatchOptions,
  waiting: readonly { points: readonly Point[]; frames: Frames }[],
): Generator<AgentEvent, BatchOutcome> {
  if (waiting.length > 0) {
    const frames: Frames = Object.fromEntries(waiting.flatMap((one) => Object.entries(one.frames)))
    return { type: 'interrupted', points: waiting.flatMap(({ points }) => points), frames }
  }
  for (const call of batch.calls) yield* show(batch, call, options)
  const results = batch.calls.flatMap((call) => batch.results[call.id] ?? [])
  const exit = results.find((result) => result.exit)?.exit
  if (exit) return { type: 'ended', control: { type: 'exit', result: exit.value } }
  // Several results may end the agent: the last one is the one that does.
  const direct = results.findLast((result) => result.direct)?.direct
  if (direct) return { type: 'ended', control: { type: 'done', result: direct.value } }
  return results.length < batch.calls.length ? { type: 'client' } : { type: 'answered' }
}

function isFinal({ direct, exit }: CallResult): boolean {
  return direct !== undefined || exit !== undefined
}
