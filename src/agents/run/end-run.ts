import { isAbortError } from '../../core/abort.js'
import { MillraceError } from '../../core/errors.js'
import { cutOffMark, countingMessages } from '../../protocol/index.js'
import type { Control, Frames, Suspension } from '../contract.js'
import { agentTree, sealCheckpoint, withoutSettled, type Checkpoint } from '../interrupts/checkpoint.js'
import { totalsOf, type ActiveRun } from './active-run.js'
import type { RunScope } from './context.js'
import type { Outcome } from './run.js'

/** Saves the open interrupts, then shows them: an interrupt that a client has seen can always be answered. */
export async function suspend(
  run: ActiveRun,
  scope: RunScope,
  { openInterrupts, frames }: Suspension,
): Promise<Outcome> {
  const { answers } = scope.resumption
  // A runtime may ignore an answer and raise its interrupt again: that one can be answered again.
  const open = new Set(openInterrupts.map(({ interrupt }) => interrupt.id))
  const answered = [...(run.checkpoint?.answered ?? []), ...answers.keys()].filter((id) => !open.has(id))
  const checkpoint = createCheckpoint(run, scope, {
    openInterrupts,
    frames: { ...framesOf(scope), ...frames },
    answered,
  })
  await saveCheckpoint(run, checkpoint)
  return finishInterrupted(run, checkpoint)
}

/** Ends the run with the open interrupts of a checkpoint. */
export function finishInterrupted(run: ActiveRun, checkpoint: Checkpoint): Outcome {
  const interrupts = checkpoint.openInterrupts.map(({ interrupt }) => interrupt)
  run.stream.finish({ type: 'interrupt', interrupts, usage: totalsOf(run).usage })
  return { type: 'interrupted', interrupts, checkpoint, ...totalsOf(run) }
}

/** Ends the run with success. */
export async function complete(
  run: ActiveRun,
  control: Extract<Control, { type: 'done' | 'exit' | 'break' }>,
): Promise<Outcome> {
  const { stream, output, scope, input } = run
  const isResumed = scope !== undefined && scope.resumption.originRunId !== input.runId
  const result = 'result' in control && control.result !== undefined ? { result: control.result } : {}
  const pending = control.type === 'done' ? (control.pendingToolCallIds ?? []) : []
  const checkpoint = await saveProgress(run, pending)
  stream.finish({ type: 'success', ...result, usage: totalsOf(run).usage })
  const { messages } = stream.fold
  return {
    type: 'completed',
    text: output.lastText(messages, isResumed),
    ...result,
    pendingToolCalls: output.pendingCalls(messages, pending),
    ...(checkpoint ? { checkpoint } : {}),
    ...totalsOf(run),
  }
}

/** Ends the run as cancelled. Messages that the user has seen stay in the conversation, marked as cut off. */
export async function cancel(run: ActiveRun): Promise<Outcome> {
  const { stream } = run
  if (!stream.ended) stream.finish({ type: 'cancelled', mark: cutOffMark, usage: totalsOf(run).usage })
  return { type: 'cancelled', ...(await checkpointAfterStop(run, { isStopped: true })), ...totalsOf(run) }
}

/** Ends a run that threw: it was cancelled, stopped for a reason that has a code, or has failed. */
export async function endAfterError(run: ActiveRun, error: unknown): Promise<Outcome> {
  const { signal, stream } = run
  const isStopped = signal.aborted && isAbortError(error, signal)
  const cause: unknown = isStopped ? signal.reason : error
  if (isStopped && !MillraceError.isInstance(cause)) return cancel(run)
  if (!stream.ended) stream.fail(cause, { mark: cutOffMark, usage: totalsOf(run).usage })
  return {
    type: 'failed',
    error: cause,
    ...(await checkpointAfterStop(run, { isStopped })),
    ...totalsOf(run),
  }
}

type Progress = Pick<Checkpoint, 'openInterrupts' | 'frames' | 'answered' | 'pendingToolCallIds'>

function createCheckpoint(
  { agent, input, stream }: ActiveRun,
  scope: RunScope,
  progress: Progress,
): Checkpoint {
  const { openInterrupts, frames, answered, pendingToolCallIds } = progress
  return sealCheckpoint({
    version: 1,
    threadId: input.threadId,
    runId: scope.resumption.originRunId,
    agents: agentTree(agent),
    messages: countingMessages(stream.fold.messages),
    state: stream.fold.state,
    values: Object.fromEntries(scope.values),
    openInterrupts,
    frames,
    answered,
    ...(pendingToolCallIds === undefined ? {} : { pendingToolCallIds }),
  })
}

async function saveCheckpoint({ input, options }: ActiveRun, checkpoint: Checkpoint): Promise<void> {
  await options.checkpoints?.save(input.threadId, checkpoint)
}

/** The frames of the agents that are not over, also of those that this run has not reached yet. */
function framesOf({ frames, resumption }: RunScope): Frames {
  const current = Array.from(frames, ([address, frame]) => [address, frame()] as const)
  return Object.fromEntries([...resumption.frames, ...current])
}

/** Saves the frames of the agents when the client has calls to execute, at any depth. Else the run is over. */
async function saveProgress(
  run: ActiveRun,
  pendingToolCallIds: readonly string[],
): Promise<Checkpoint | undefined> {
  const { scope } = run
  const frames = scope && pendingToolCallIds.length > 0 ? framesOf(scope) : {}
  if (!scope || isEmpty(frames)) return saveEnd(run)
  const answered = [...answeredIn(run.checkpoint), ...scope.resumption.answers.keys()]
  const checkpoint = createCheckpoint(run, scope, {
    openInterrupts: [],
    frames,
    answered,
    pendingToolCallIds,
  })
  await saveCheckpoint(run, checkpoint)
  return checkpoint
}

/**
 * Saves a checkpoint without open interrupts. Keeps the ids of answered ones, so that answering again does nothing.
 * Drops the values: they belong to a run and to those that resume it.
 */
async function saveEnd(run: ActiveRun): Promise<undefined> {
  const { stream, checkpoint } = run
  if (!checkpoint || (checkpoint.openInterrupts.length === 0 && isEmpty(checkpoint.frames))) return
  const { messages, state } = stream.fold
  const { pendingToolCallIds: _executed, ...rest } = checkpoint
  const answered = answeredIn(checkpoint)
  await saveCheckpoint(run, {
    ...rest,
    ...{ messages, state, values: {}, openInterrupts: [], frames: {}, answered },
  })
}

function isEmpty(frames: Frames): boolean {
  return Object.keys(frames).length === 0
}

function answeredIn(checkpoint: Checkpoint | undefined): string[] {
  if (!checkpoint) return []
  return [...checkpoint.answered, ...checkpoint.openInterrupts.map(({ interrupt }) => interrupt.id)]
}

interface Stop {
  /** False when the run failed without a stop. */
  readonly isStopped: boolean
}

/** The checkpoint of a stopped or failed run. Undefined when it cannot be resumed. */
async function checkpointAfterStop(run: ActiveRun, stop: Stop): Promise<{ checkpoint?: Checkpoint }> {
  const { options, checkpoint } = run
  try {
    const reached = progressAfterStop(run, stop)
    if (reached) await saveCheckpoint(run, reached)
    return reached ? { checkpoint: reached } : {}
  } catch (error) {
    options.onProblem('the progress of the run could not be saved', error)
    return run.isAnswering && checkpoint ? { checkpoint } : {}
  }
}

/**
 * Interrupts that the run answered stay open, to be answered again, except those whose call has its result. Their frames
 * are kept with the progress since. A run without answers can be resumed when it was stopped; after a failure it starts
 * afresh.
 */
function progressAfterStop(run: ActiveRun, { isStopped }: Stop): Checkpoint | undefined {
  const { scope, checkpoint, input, stream } = run
  if (!scope) return undefined
  const frames = framesOf(scope)
  if (checkpoint && input.resume.length > 0) {
    const reached = { ...checkpoint, frames: { ...checkpoint.frames, ...frames } }
    const unsettled = withoutSettled(reached, scope.resumption.answers, stream.fold.messages)
    return createCheckpoint(run, scope, unsettled)
  }
  if (!isStopped || isEmpty(frames)) return undefined
  return createCheckpoint(run, scope, { openInterrupts: [], frames, answered: checkpoint?.answered ?? [] })
}
