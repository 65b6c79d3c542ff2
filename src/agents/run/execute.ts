import type { Message } from '@ag-ui/core'
import { consume } from '../../core/consume.js'
import { endsWithResultsOf, withoutCalls } from '../../bridge/predict-state.js'
import { MillraceError } from '../../core/errors.js'
import type { IdSource } from '../../core/ids.js'
import { stateEventBetween, type AgentEvent, type SettledMessages } from '../../protocol/index.js'
import type { Control, Identity, RunContext } from '../contract.js'
import { Histories } from '../history/histories.js'
import { controlOf, type WorkEnd } from '../interrupts/interrupt-scope.js'
import { planResume, type ResumePlan } from '../interrupts/resume.js'
import { beginRun, type ActiveRun, type ExecuteOptions } from './active-run.js'
import { rootAddress } from './address.js'
import { type AgentContext, type RunScope, createContext, isStateChange } from './context.js'
import { checkControl } from './control.js'
import { cancel, complete, endAfterError, finishInterrupted, suspend } from './end-run.js'
import type { EventEdit, Outcome } from './run.js'
import { SizeGuard } from './size-limits.js'

/** Executes a run from its first event to its last. Never rejects. */
export async function executeRun(request: ExecuteOptions): Promise<Outcome> {
  const run = await beginRun(request)
  let outcome: Outcome
  try {
    outcome = await resumeOrStart(run)
  } catch (error) {
    outcome = await endAfterError(run, toReadable(error)).catch((cause: unknown) => giveUp(run, cause))
  }
  run.trace.close()
  await run.output.end(outcome)
  return outcome
}

async function resumeOrStart(run: ActiveRun): Promise<Outcome> {
  const { agent, input, options, checkpoint } = run
  if (run.problem) throw run.problem
  const { onProblem } = options
  const { runId, messages, resume } = input
  const plan = planResume({ agent, runId, checkpoint, messages, resume, onProblem })
  switch (plan.type) {
    case 'nothing':
      return complete(run, { type: 'done' })
    case 'interrupt-again':
      return finishInterrupted(run, plan.checkpoint)
    case 'start':
      // The person has confirmed or rejected predicted state, and said nothing else.
      if (endsWithResultsOf(run.messages, run.confirmCalls)) return complete(run, { type: 'done' })
      return runAgents(run, plan)
    case 'continue':
      return runAgents(run, plan)
  }
}

async function runAgents(
  run: ActiveRun,
  plan: Extract<ResumePlan, { type: 'start' | 'continue' }>,
): Promise<Outcome> {
  const scope = (run.scope = createRunScope(run, plan))
  run.isAnswering = plan.resumption.openInterrupts.length > 0
  const { ctx, interrupts } = rootContext(run, scope)
  // The agent starts when RUN_STARTED is sent.
  if (run.output.backPressure) await run.output.backPressure
  let end: WorkEnd<Control>
  try {
    end = { value: checkControl(run.agent, await streamAgent(run, ctx)) }
  } catch (error) {
    // The run was stopped: its new interrupts no longer matter.
    if (run.signal.aborted) throw error
    end = { error }
  }
  return endRun(run, scope, controlOf(interrupts, end))
}

function endRun(run: ActiveRun, scope: RunScope, control: Control): Outcome | Promise<Outcome> {
  switch (control.type) {
    case 'interrupted':
      return suspend(run, scope, control)
    case 'cancelled':
      return cancel(run)
    case 'transfer':
      throw new MillraceError(
        'INVALID_AGENT',
        `Agent '${run.agent.name}' transfers to '${control.to}', but it has no agent of that name. Make them a team: team({ lead, members }), or subAgents of defineAgent.`,
      )
    case 'done':
    case 'exit':
    case 'break':
      return complete(run, control)
  }
}

type Write = (event: AgentEvent) => Promise<void> | undefined

/** Writes the agent's events to the run stream until it returns its control. Every event of a run passes here. */
function streamAgent(run: ActiveRun, ctx: RunContext): Promise<Control> {
  const { agent, options, signal, state, stream, output } = run
  const guard = options.sizes && new SizeGuard(options.sizes, stream.fold)
  const write: Write = (event) => {
    if (event.type === 'STATE_SNAPSHOT' && isStateChange(event)) writeStateChange(run, event)
    else {
      const size = guard?.measure(event)
      stream.write(event)
      if (event.type === 'STATE_SNAPSHOT' || event.type === 'STATE_DELTA') state.take(event)
      if (size !== undefined) guard?.add(event, size)
    }
    return output.backPressure
  }
  const { clock, graceMs, onProblem, edit } = options
  const onStrayError = (error: unknown): void => onProblem('the agent failed after its end', error)
  const take = edit ? withEdit(edit, write) : write
  return consume(agent.run(ctx), take, { signal, clock, graceMs, onStrayError })
}

function withEdit(edit: EventEdit, write: Write): Write {
  return (event) => {
    const edited = edit(event)
    return 'type' in edited ? write(edited) : writeAll(edited, write)
  }
}

async function writeAll(events: AsyncIterable<AgentEvent>, write: Write): Promise<void> {
  for await (const event of events) await write(event)
}

function writeStateChange(
  { stream, state }: ActiveRun,
  { subagentRunId }: { readonly subagentRunId?: string },
): void {
  // Computed now, so that changes of parallel tools cannot overtake each other.
  const event = stateEventBetween(stream.fold.state, state.current)
  if (event) stream.write({ ...event, ...(subagentRunId === undefined ? {} : { subagentRunId }) })
}

const localUser: Identity = { app: 'default', user: 'local' }

function withoutConfirmations({ stream, confirmCalls }: ActiveRun): SettledMessages {
  const { messages, edition } = stream.fold.settle()
  return { messages: withoutCalls(messages, confirmCalls), edition }
}

function createRunScope(
  run: ActiveRun,
  { type, resumption }: Extract<ResumePlan, { type: 'start' | 'continue' }>,
): RunScope {
  const { agent, input, options, messages, state, stream, usage, shouldStop, checkpoint } = run
  const savedValues = type === 'continue' ? checkpoint?.values : {}
  return {
    identity: options.identity ?? localUser,
    threadId: input.threadId,
    runId: input.runId,
    context: input.context,
    forwardedProps: input.forwardedProps,
    values: new Map(Object.entries({ ...savedValues, ...options.values })),
    state,
    resumption,
    histories: new Histories(() => withoutConfirmations(run)),
    clientMessages: () => stream.fold.messages,
    frames: new Map(),
    services: {
      newId: options.newId,
      clock: options.clock,
      callId: createCallIds(messages, options.newId),
      addUsage: (one) => usage.push(one),
      report: options.onProblem,
      shouldStop,
      assertActive: options.assertActive,
      graceMs: options.graceMs,
      toolTimeoutMs: agent.limits?.toolTimeoutMs ?? options.toolTimeoutMs,
      toolResultBytes: options.toolResultBytes,
      native: options.native,
      onModelRequest: options.onModelRequest,
      isPrivateKey: options.isPrivateKey,
    },
  }
}

/** Keeps the ids of tool calls unique in a thread: returns the wanted id when it is free, else a new one. */
function createCallIds(history: readonly Message[], newId: IdSource): (wanted: string) => string {
  // Built on the first call: many runs call no tool.
  let used: Set<string> | undefined
  return (wanted) => {
    used ??= new Set(
      history.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : [])).map(({ id }) => id),
    )
    const id = wanted === '' || used.has(wanted) ? newId('call') : wanted
    used.add(id)
    return id
  }
}

function rootContext(run: ActiveRun, scope: RunScope): AgentContext {
  const { agent, input, signal, trace } = run
  const address = rootAddress(agent)
  return createContext(scope, {
    name: agent.name,
    address,
    messages: withoutCalls(run.messages, run.confirmCalls),
    scope: { address, subagentRunId: undefined, messages: undefined },
    originRunId: scope.resumption.originRunId,
    isSelf: false,
    transferTargets: [],
    clientTools: input.tools,
    signal,
    subagentRunId: undefined,
    trace: trace.context,
  })
}

/** The thrown value, or an error in its place when reading it throws: a logger will read it. */
function toReadable(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return error
  try {
    Object.getPrototypeOf(error)
    for (const name of ['name', 'message', 'stack', 'cause']) if (name in error) Reflect.get(error, name)
    return error
  } catch {
    return new MillraceError('AGENT_ERROR', 'The agent threw a value that cannot be read.')
  }
}

/** Ends a run whose end failed, for example because an agent left unreadable values. */
function giveUp({ stream }: ActiveRun, cause: unknown): Outcome {
  const error = new MillraceError('AGENT_ERROR', 'The run could not be ended in order.', { cause })
  if (!stream.ended) stream.fail(error)
  const { messages, state } = stream.fold
  return { type: 'failed', error, messages, state, usage: [] }
}
