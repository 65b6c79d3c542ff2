import { consume } from '../core/consume.js'
import { MillraceError, toWireError } from '../core/errors.js'
import type { AgentEvent } from '../protocol/index.js'
import { openRun, type ActiveRun, type DriveOptions } from './active-run.js'
import type { Control } from './agent.js'
import { createCallIds } from './call-ids.js'
import { afterWork, type WorkEnd } from './asker.js'
import { createPlace, type RunScope } from './context.js'
import { ask, breakOff, cancel, complete, pause } from './end-run.js'
import { planResume } from './resume.js'
import type { Resumption } from './resumption.js'
import type { Outcome } from './run.js'
import { isStateChange, stateDifference } from './shared-state.js'

/** A run from its first event to its last. Never rejects. */
export async function drive(given: DriveOptions): Promise<Outcome> {
  const run = await openRun(given)
  const outcome = await outcomeOf(run)
  run.trace.close()
  await run.outbox.end(outcome)
  return outcome
}

async function outcomeOf(run: ActiveRun): Promise<Outcome> {
  try {
    if (run.problem) throw run.problem
    return await runAgent(run)
  } catch (error) {
    return await breakOff(run, error)
  }
}

async function runAgent(run: ActiveRun): Promise<Outcome> {
  const { agent, input, options, checkpoint } = run
  const plan = await planResume({
    agent,
    runId: input.runId,
    checkpoint,
    resume: input.resume,
    onProblem: options.onProblem,
  })
  if (plan.type === 'nothing') return complete(run, { type: 'done' })
  if (plan.type === 'ask-again') return ask(run, plan.checkpoint)
  const scope = scopeOf(run, plan.resumption)
  if (plan.type === 'continue') run.resumed = scope
  const control = await pump(run, scope)
  switch (control.type) {
    case 'interrupted':
      return pause(run, scope, control)
    case 'cancelled':
      return cancel(run)
    case 'transfer':
      throw new MillraceError(
        'INVALID_AGENT',
        `Agent '${agent.name}' transfers to '${control.to}', which it does not know.`,
      )
    case 'done':
    case 'exit':
    case 'break':
      return complete(run, control)
  }
}

async function pump(run: ActiveRun, scope: RunScope): Promise<Control> {
  const { agent, input, options, signal, stream, messages } = run
  const place = createPlace(scope, {
    address: encodeURIComponent(agent.name),
    messages,
    clientTools: input.tools,
    signal,
    subagentRunId: undefined,
    trace: run.trace.context,
  })
  const take = (event: AgentEvent): Promise<void> | undefined => {
    if (isStateChange(event)) writeState(run, event)
    else stream.write(event)
    return run.outbox.room
  }
  const { clock, graceMs, onProblem } = options
  const onStrayError = (error: unknown): void => onProblem(`after the end: ${toWireError(error).code}`)
  // The agent starts when RUN_STARTED is out.
  if (run.outbox.room) await run.outbox.room
  let end: WorkEnd<Control>
  try {
    end = { value: await consume(agent.run(place.ctx), take, { signal, clock, graceMs, onStrayError }) }
  } catch (error) {
    // It was stopped: what it may have asked does not matter any more.
    if (signal.aborted) throw error
    end = { error }
  }
  return afterWork(place.asker, end)
}

function writeState(
  { stream, state }: ActiveRun,
  { subagentRunId }: { readonly subagentRunId?: string },
): void {
  const event: AgentEvent | undefined = stateDifference(stream.held.state, state.current)
  if (event) stream.write({ ...event, ...(subagentRunId === undefined ? {} : { subagentRunId }) })
}

function scopeOf(
  { input, options, checkpoint, messages, state, usage, shouldStop }: ActiveRun,
  resumption: Resumption,
): RunScope {
  return {
    threadId: input.threadId,
    runId: input.runId,
    context: input.context,
    forwardedProps: input.forwardedProps,
    values: new Map(Object.entries({ ...checkpoint?.values, ...options.values })),
    state,
    resumption,
    newId: options.newId,
    clock: options.clock,
    graceMs: options.graceMs,
    toolTimeoutMs: options.toolTimeoutMs,
    shouldStop,
    addUsage: (one) => usage.push(one),
    callId: createCallIds(messages, options.newId),
    report: options.onProblem,
  }
}
