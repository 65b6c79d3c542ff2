import { isAbortError } from '../../core/abort.js'
import { MillraceError, toWireError } from '../../core/errors.js'
import { cancelledMark } from '../../protocol/index.js'
import { soFar, type ActiveRun } from './active-run.js'
import type { Control, Frames, Suspension } from '../contract.js'
import { agentTree, sealCheckpoint, withoutSettled, type Checkpoint } from '../interrupts/checkpoint.js'
import type { RunScope } from './context.js'
import type { Outcome } from './run.js'

/** Saved first, announced then: a question that a client has seen can always be answered. */
export async function pause(
  run: ActiveRun,
  scope: RunScope,
  { openInterrupts, frames }: Suspension,
): Promise<Outcome> {
  const { answers } = scope.resumption
  // What is asked again, by a runtime that has not taken note of the answer, can be answered again.
  const open = new Set(openInterrupts.map(({ interrupt }) => interrupt.id))
  const answered = [...(run.checkpoint?.answered ?? []), ...answers.keys()].filter((id) => !open.has(id))
  const checkpoint = standstill(run, scope, {
    openInterrupts,
    frames: { ...framesOf(scope), ...frames },
    answered,
  })
  await run.options.checkpoints?.save(run.input.threadId, checkpoint)
  return ask(run, checkpoint)
}

type Standing = Pick<Checkpoint, 'openInterrupts' | 'frames' | 'answered' | 'pendingToolCallIds'>

function standstill({ agent, input, stream }: ActiveRun, scope: RunScope, standing: Standing): Checkpoint {
  const { openInterrupts, frames, answered, pendingToolCallIds } = standing
  return sealCheckpoint({
    version: 1,
    threadId: input.threadId,
    runId: scope.resumption.originRunId,
    agents: agentTree(agent),
    messages: stream.fold.messages,
    state: stream.fold.state,
    values: Object.fromEntries(scope.values),
    openInterrupts,
    frames,
    answered,
    ...(pendingToolCallIds === undefined ? {} : { pendingToolCallIds }),
  })
}

/** Where the agents stand that are not done, those included whose turn has not come yet in this run. */
function framesOf({ frames, resumption }: RunScope): Frames {
  const current = Array.from(frames, ([address, frame]) => [address, frame()] as const)
  return Object.fromEntries([...resumption.frames, ...current])
}

/** Ends the run with the questions of a checkpoint. */
export function ask(run: ActiveRun, checkpoint: Checkpoint): Outcome {
  const interrupts = checkpoint.openInterrupts.map(({ interrupt }) => interrupt)
  run.stream.finish({ type: 'interrupt', interrupts, usage: soFar(run).usage })
  return { type: 'interrupted', interrupts, checkpoint, ...soFar(run) }
}

export async function complete(
  run: ActiveRun,
  control: Extract<Control, { type: 'done' | 'exit' | 'break' }>,
): Promise<Outcome> {
  const { stream, ledger } = run
  const result = 'result' in control && control.result !== undefined ? { result: control.result } : {}
  const pending = control.type === 'done' ? (control.pendingToolCallIds ?? []) : []
  const checkpoint = await saveProgress(run, pending)
  stream.finish({ type: 'success', ...result, usage: soFar(run).usage })
  const { messages } = stream.fold
  const pendingToolCalls = ledger.pendingCalls(messages, pending)
  const text = ledger.text(messages)
  const place = checkpoint ? { checkpoint } : {}
  return { type: 'completed', text, ...result, pendingToolCalls, ...place, ...soFar(run) }
}

/** If the client has its turn, the agents go on where they are then, however deep in the tree. If not, it is the end. */
async function saveProgress(
  run: ActiveRun,
  pendingToolCallIds: readonly string[],
): Promise<Checkpoint | undefined> {
  const { scope, checkpoint: before } = run
  const frames = scope && pendingToolCallIds.length > 0 ? framesOf(scope) : {}
  if (!scope || isEmpty(frames)) return saveEnd(run)
  const answered = [...answeredBefore(before), ...scope.resumption.answers.keys()]
  const standing = { openInterrupts: [], frames, answered, pendingToolCallIds }
  const checkpoint = standstill(run, scope, standing)
  await run.options.checkpoints?.save(run.input.threadId, checkpoint)
  return checkpoint
}

/**
 * Nothing is left to answer. What was answered is kept, so that answering once more does nothing. Values are not: they
 * belong to a run and to those that resume it.
 */
async function saveEnd({ input, options, stream, checkpoint }: ActiveRun): Promise<undefined> {
  if (!checkpoint || !isWaiting(checkpoint)) return
  const { messages, state } = stream.fold
  const { pendingToolCallIds: _answered, ...rest } = checkpoint
  const answered = answeredBefore(checkpoint)
  const over = { ...rest, messages, state, values: {}, openInterrupts: [], frames: {}, answered }
  await options.checkpoints?.save(input.threadId, over)
}

function isWaiting({ openInterrupts, frames }: Checkpoint): boolean {
  return openInterrupts.length > 0 || !isEmpty(frames)
}

function isEmpty(frames: Frames): boolean {
  return Object.keys(frames).length === 0
}

function answeredBefore(checkpoint: Checkpoint | undefined): string[] {
  if (!checkpoint) return []
  return [...checkpoint.answered, ...checkpoint.openInterrupts.map(({ interrupt }) => interrupt.id)]
}

/** What the user has seen stays in the conversation, marked as cut off. */
export async function cancel(run: ActiveRun): Promise<Outcome> {
  const { stream } = run
  if (!stream.ended) stream.finish({ type: 'cancelled', mark: cancelledMark, usage: soFar(run).usage })
  return { type: 'cancelled', ...(await keptProgress(run, { isStopped: true })), ...soFar(run) }
}

/** The end of a run that threw: it was cancelled, stopped for a reason that has a code, or has failed. */
export async function breakOff(run: ActiveRun, error: unknown): Promise<Outcome> {
  const { signal, stream } = run
  const isStopped = signal.aborted && isAbortError(error, signal)
  const cause: unknown = isStopped ? signal.reason : error
  if (isStopped && !MillraceError.isInstance(cause)) return cancel(run)
  if (!stream.ended) stream.fail(cause, { usage: soFar(run).usage })
  return { type: 'failed', error: cause, ...(await keptProgress(run, { isStopped })), ...soFar(run) }
}

interface Stop {
  /** Whether it was told to stop. If not, it has failed. */
  readonly isStopped: boolean
}

/** Where a run can go on that came to no end of its own. */
async function keptProgress(run: ActiveRun, stop: Stop): Promise<{ checkpoint?: Checkpoint }> {
  const { input, options, checkpoint } = run
  try {
    const kept = progressOf(run, stop)
    if (kept) await options.checkpoints?.save(input.threadId, kept)
    return kept ? { checkpoint: kept } : {}
  } catch (error) {
    options.onProblem(`what the run had done could not be saved: ${toWireError(error).code}`)
    return run.isAnswering && checkpoint ? { checkpoint } : {}
  }
}

/**
 * The questions that the run answered stay open, to be answered again, but for those whose call has its result: they are
 * done with. What was done since is kept with them. A run that was asked nothing can go on when it was stopped. When it
 * has failed, it starts afresh.
 */
function progressOf(run: ActiveRun, { isStopped }: Stop): Checkpoint | undefined {
  const { scope, checkpoint, input, stream } = run
  if (!scope) return undefined
  const frames = framesOf(scope)
  if (checkpoint && input.resume.length > 0) {
    const kept = { ...checkpoint, frames: { ...checkpoint.frames, ...frames } }
    return standstill(run, scope, withoutSettled(kept, scope.resumption.answers, stream.fold.messages))
  }
  if (!isStopped || isEmpty(frames)) return undefined
  return standstill(run, scope, { openInterrupts: [], frames, answered: checkpoint?.answered ?? [] })
}
