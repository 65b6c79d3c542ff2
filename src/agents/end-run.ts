import { isAbortError } from '../core/abort.js'
import { MillraceError, toWireError } from '../core/errors.js'
import { soFar, type ActiveRun } from './active-run.js'
import type { Control } from './agent.js'
import { agentTree, sealCheckpoint, type Checkpoint } from './checkpoint.js'
import type { RunScope } from './context.js'
import type { Paused } from './resumption.js'
import type { Outcome } from './run.js'

/** Saved first, announced then: a question that a client has seen can always be answered. */
export async function pause(run: ActiveRun, scope: RunScope, { points, frames }: Paused): Promise<Outcome> {
  const { agent, input, options, stream, checkpoint: before } = run
  const { originRunId, answers } = scope.resumption
  const checkpoint = sealCheckpoint({
    version: 1,
    threadId: input.threadId,
    runId: originRunId,
    agents: agentTree(agent),
    messages: stream.held.messages,
    state: stream.held.state,
    values: Object.fromEntries(scope.values),
    points,
    frames,
    answered: [...(before?.answered ?? []), ...answers.keys()],
  })
  await options.checkpoints?.save(input.threadId, checkpoint)
  return ask(run, checkpoint)
}

/** Ends the run with the questions of a checkpoint. */
export function ask(run: ActiveRun, checkpoint: Checkpoint): Outcome {
  const interrupts = checkpoint.points.map(({ interrupt }) => interrupt)
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
  await saveEnd(run)
  stream.finish({ type: 'success', ...result, usage: soFar(run).usage })
  const { messages } = stream.held
  const pendingToolCalls = ledger.pendingCalls(messages, pending)
  return { type: 'completed', text: ledger.text(messages), ...result, pendingToolCalls, ...soFar(run) }
}

/**
 * Nothing is left to answer. What was answered is kept, so that answering once more does nothing. Values are not: they
 * belong to a run and to those that resume it.
 */
async function saveEnd({ input, options, stream, checkpoint }: ActiveRun): Promise<void> {
  if (!checkpoint || checkpoint.points.length === 0) return
  const { messages, state } = stream.held
  const answered = [...checkpoint.answered, ...checkpoint.points.map(({ interrupt }) => interrupt.id)]
  const over = { ...checkpoint, messages, state, values: {}, points: [], frames: {}, answered }
  await options.checkpoints?.save(input.threadId, over)
}

/** What the user has seen stays in the conversation, marked as cut off. */
export async function cancel(run: ActiveRun): Promise<Outcome> {
  const { stream } = run
  if (!stream.ended)
    stream.finish({ type: 'cancelled', mark: { millrace: { cancelled: true } }, usage: soFar(run).usage })
  return { type: 'cancelled', ...(await keptProgress(run)), ...soFar(run) }
}

/** The end of a run that threw: it was cancelled, stopped for a reason that has a code, or has failed. */
export async function breakOff(run: ActiveRun, error: unknown): Promise<Outcome> {
  const { signal, stream } = run
  const isStopped = signal.aborted && isAbortError(error, signal)
  const cause: unknown = isStopped ? signal.reason : error
  if (isStopped && !MillraceError.isInstance(cause)) return cancel(run)
  if (!stream.ended) stream.fail(cause, soFar(run).usage)
  return { type: 'failed', error: cause, ...(await keptProgress(run)), ...soFar(run) }
}

/** The questions of a resumed run stay open, to be answered again. What was done since is kept with them. */
async function keptProgress(run: ActiveRun): Promise<{ checkpoint?: Checkpoint }> {
  const { input, options, stream, resumed, checkpoint } = run
  if (!resumed || !checkpoint) return {}
  try {
    const { messages, state } = stream.held
    const values = Object.fromEntries(resumed.values)
    const kept = sealCheckpoint({ ...checkpoint, messages, state, values })
    await options.checkpoints?.save(input.threadId, kept)
    return { checkpoint: kept }
  } catch (error) {
    options.onProblem(`what the run had done could not be saved: ${toWireError(error).code}`)
    return { checkpoint }
  }
}
