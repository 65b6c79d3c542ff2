import { consume } from '../../core/consume.js'
import { MillraceError, toWireError } from '../../core/errors.js'
import { isRecord } from '../../core/is-record.js'
import type { AgentEvent } from '../../protocol/index.js'
import { openRun, type ActiveRun, type DriveOptions } from './active-run.js'
import type { Agent, Control, Identity, RunContext } from '../contract.js'
import { createCallIds } from './call-ids.js'
import type { Checkpoint } from '../interrupts/checkpoint.js'
import { controlOf, type WorkEnd } from '../interrupts/interrupt-scope.js'
import { createPlace, rootAddress, type AgentPlace, type RunScope } from './context.js'
import { ask, breakOff, cancel, complete, pause } from './end-run.js'
import { planResume } from '../interrupts/resume.js'
import type { Resumption } from '../interrupts/resume.js'
import type { EventEdit, Outcome } from './run.js'
import { isStateChange, stateDifference } from './shared-state.js'

/** A run from its first event to its last. Never rejects. */
export async function drive(given: DriveOptions): Promise<Outcome> {
  const run = await openRun(given)
  let outcome: Outcome
  try {
    outcome = await runAgent(run)
  } catch (error) {
    outcome = await breakOff(run, readable(error)).catch((cause: unknown) => giveUp(run, cause))
  }
  run.trace.close()
  await run.outbox.end(outcome)
  return outcome
}

/** What was thrown, or an error in its place when it cannot be looked at: somebody is going to log it. */
function readable(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return error
  try {
    Object.getPrototypeOf(error)
    for (const name of ['name', 'message', 'stack', 'cause']) if (name in error) Reflect.get(error, name)
    return error
  } catch {
    return new MillraceError('AGENT_ERROR', 'The agent threw what cannot be looked at.')
  }
}

/** An agent may leave things behind that cannot be added up. Its run has an end all the same. */
function giveUp({ stream }: ActiveRun, cause: unknown): Outcome {
  const error = new MillraceError('AGENT_ERROR', 'The run could not be ended in order.', { cause })
  if (!stream.ended) stream.fail(error)
  const { messages, state } = stream.fold
  return { type: 'failed', error, messages, state, usage: [] }
}

async function runAgent(run: ActiveRun): Promise<Outcome> {
  const { agent, input, options, checkpoint } = run
  if (run.problem) throw run.problem
  const plan = await planResume({
    agent,
    runId: input.runId,
    checkpoint,
    messages: input.messages,
    resume: input.resume,
    onProblem: options.onProblem,
  })
  if (plan.type === 'nothing') return complete(run, { type: 'done' })
  if (plan.type === 'interrupt-again') return ask(run, plan.checkpoint)
  const before = plan.type === 'continue' ? checkpoint?.values : undefined
  const scope = scopeOf(run, plan.resumption, before)
  run.scope = scope
  run.isAnswering = plan.resumption.openInterrupts.length > 0
  const { ctx, asker } = placeOf(run, scope)
  // The agent starts when RUN_STARTED is out.
  if (run.outbox.room) await run.outbox.room
  let end: WorkEnd<Control>
  try {
    end = { value: checked(run.agent, await work(run, ctx)) }
  } catch (error) {
    // It was stopped: what it may have asked does not matter any more.
    if (run.signal.aborted) throw error
    end = { error }
  }
  return conclude(run, scope, controlOf(asker, end))
}

function placeOf(run: ActiveRun, scope: RunScope): AgentPlace {
  const { agent, input, signal, messages } = run
  const address = rootAddress(agent)
  return createPlace(scope, {
    name: agent.name,
    address,
    messages,
    scope: { address, subagentRunId: undefined, given: undefined },
    originRunId: scope.resumption.originRunId,
    transferTargets: [],
    clientTools: input.tools,
    signal,
    subagentRunId: undefined,
    trace: run.trace.context,
  })
}

/** Runs the agent to its end. */
function work(run: ActiveRun, ctx: RunContext): Promise<Control> {
  const { agent, options, signal, stream } = run
  const write: Take = (event) => {
    if (isStateChange(event)) writeState(run, event)
    else stream.write(event)
    return run.outbox.room
  }
  const { clock, graceMs, onProblem, edit } = options
  const take = edit ? edited(edit, write) : write
  const onStrayError = (error: unknown): void => onProblem(`after the end: ${toWireError(error).code}`)
  return consume(agent.run(ctx), take, { signal, clock, graceMs, onStrayError })
}

const types: Readonly<Record<Control['type'], true>> = {
  ...{ done: true, exit: true, transfer: true, break: true, interrupted: true, cancelled: true },
}
const controlTypes: ReadonlySet<unknown> = new Set(Object.keys(types))

/** An agent may be written without types, and a run that does not know how it ends would have no end. */
function checked({ name }: Agent, given: Control): Control {
  const control: unknown = given
  const isKnown = isRecord(control) && controlTypes.has(control.type)
  if (isKnown && (given.type !== 'interrupted' || Array.isArray(given.openInterrupts))) return given
  const message = `Agent '${name}' returned what is no Control. Return { type: 'done' }, for example.`
  throw new MillraceError('INVALID_AGENT', message)
}

type Take = (event: AgentEvent) => Promise<void> | undefined

function edited(edit: EventEdit, write: Take): Take {
  return (event) => {
    const given = edit(event)
    return 'type' in given ? write(given) : writeAll(given, write)
  }
}

async function writeAll(events: AsyncIterable<AgentEvent>, write: Take): Promise<void> {
  for await (const event of events) await write(event)
}

function conclude(run: ActiveRun, scope: RunScope, control: Control): Outcome | Promise<Outcome> {
  switch (control.type) {
    case 'interrupted':
      return pause(run, scope, control)
    case 'cancelled':
      return cancel(run)
    case 'transfer':
      throw new MillraceError(
        'INVALID_AGENT',
        `Agent '${run.agent.name}' transfers to '${control.to}', but it has no agent of that name. Add it to its subAgents.`,
      )
    case 'done':
    case 'exit':
    case 'break':
      return complete(run, control)
  }
}

function writeState(
  { stream, state }: ActiveRun,
  { subagentRunId }: { readonly subagentRunId?: string },
): void {
  const event: AgentEvent | undefined = stateDifference(stream.fold.state, state.current)
  if (event) stream.write({ ...event, ...(subagentRunId === undefined ? {} : { subagentRunId }) })
}

function scopeOf(
  { input, options, messages, state, stream, usage, shouldStop }: ActiveRun,
  resumption: Resumption,
  valuesBefore: Checkpoint['values'] = {},
): RunScope {
  return {
    identity: options.identity ?? localUser,
    threadId: input.threadId,
    runId: input.runId,
    context: input.context,
    forwardedProps: input.forwardedProps,
    values: new Map(Object.entries({ ...valuesBefore, ...options.values })),
    state,
    resumption,
    held: () => stream.fold.messages,
    frames: new Map(),
    services: {
      newId: options.newId,
      clock: options.clock,
      callId: createCallIds(messages, options.newId),
      addUsage: (one) => usage.push(one),
      report: options.onProblem,
      shouldStop,
      graceMs: options.graceMs,
      toolTimeoutMs: options.toolTimeoutMs,
      native: options.native,
    },
  }
}

const localUser: Identity = { app: 'default', user: 'local' }
