import { aggregateTokenUsage, type Message, type TokenUsage, type ToolCall } from '@ag-ui/core'
import { isAbortError } from '../core/abort.js'
import { abortable } from '../core/abortable.js'
import { MillraceError, toWireError } from '../core/errors.js'
import { createRunStream, type AgUiEvent, type RunStream } from '../protocol/index.js'
import type { Agent, Control, Interrupted, SafePoint } from './agent.js'
import type { Resumption } from './asker.js'
import { agentTree, parseCheckpoint, sealCheckpoint, type Checkpoint } from './checkpoint.js'
import { createPlace, runInPlace, type RunScope } from './context.js'
import { planResume } from './resume.js'
import type { NormalInput } from './run-input.js'
import type { Outcome, RunOptions } from './run.js'
import { createSharedState } from './shared-state.js'

export interface DriveOptions {
  readonly agent: Agent
  readonly input: NormalInput
  readonly options: RunOptions & Required<Pick<RunOptions, 'newId' | 'clock' | 'onProblem'>>
  readonly signal: AbortSignal
  /** Takes an event; resolves when the run may go on. */
  readonly send: (event: AgUiEvent) => Promise<void>
  readonly shouldStop: (at: SafePoint) => boolean
}

/** A run from its first event to its last. Never rejects. */
export async function drive(given: DriveOptions): Promise<Outcome> {
  const { input, options, signal, send } = given
  const usage: TokenUsage[] = []
  const written: AgUiEvent[] = []
  const ledger = createLedger()
  const flush = async (): Promise<void> => {
    for (const event of written.splice(0)) await send(event)
  }
  const saved = await loadCheckpoint(given)
  const checkpoint = saved instanceof Error ? undefined : saved
  const messages = input.messages ?? checkpoint?.messages ?? []
  const state = input.state ?? checkpoint?.state ?? {}
  const stream = createRunStream({
    ...input,
    messages,
    state,
    emit: (event) => {
      ledger.see(event)
      written.push(event)
    },
    onProblem: options.onProblem,
    newId: options.newId,
  })
  const ended = (): Ended => ({
    messages: stream.held.messages,
    state: stream.held.state,
    usage: aggregateTokenUsage(usage),
  })
  const run: ActiveRun = { ...given, stream, ledger, usage, messages, state, checkpoint, flush, ended }
  try {
    if (saved instanceof Error) throw saved
    return await runAgent(run)
  } catch (error) {
    if (signal.aborted && isAbortError(error, signal)) return cancel(run)
    // What an agent could not be told apart from: an error is all that is left to say.
    if (!stream.ended) stream.fail(error, ended().usage)
    return { type: 'failed', error, ...ended() }
  } finally {
    await flush()
  }
}

type Ended = Pick<Outcome, 'messages' | 'state' | 'usage'>

interface ActiveRun extends DriveOptions {
  readonly stream: RunStream
  readonly ledger: ReturnType<typeof createLedger>
  readonly usage: TokenUsage[]
  readonly messages: readonly Message[]
  readonly state: unknown
  readonly checkpoint: Checkpoint | undefined
  readonly flush: () => Promise<void>
  readonly ended: () => Ended
}

/** The saved run, or why there is none to be had: RUN_STARTED comes before any complaint. */
async function loadCheckpoint({ input, options }: DriveOptions): Promise<Checkpoint | undefined | Error> {
  try {
    const saved = options.checkpoint ?? (await options.checkpoints?.load(input.threadId))
    return saved === undefined || saved === null ? undefined : parseCheckpoint(saved)
  } catch (error) {
    return error instanceof Error ? error : new MillraceError('INVALID_CHECKPOINT', String(error))
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
  const { agent, options, signal, stream, flush, messages } = run
  const place = createPlace(scope, {
    address: encodeURIComponent(agent.name),
    messages,
    signal,
    subagentRunId: undefined,
  })
  const source = abortable(runInPlace(agent, place), {
    ...options,
    signal,
    onStrayError: (error) => options.onProblem(`after the end: ${toWireError(error).code}`),
  })
  try {
    for (;;) {
      await flush()
      const step = await source.next()
      if (step.done === true) return step.value
      stream.write(step.value)
    }
  } finally {
    await source.return(undefined as unknown as Control)
  }
}

function scopeOf(
  { input, options, checkpoint, state, usage, shouldStop }: ActiveRun,
  resumption: Resumption,
): RunScope {
  return {
    threadId: input.threadId,
    runId: input.runId,
    clientTools: input.tools,
    context: input.context,
    forwardedProps: input.forwardedProps,
    values: new Map(Object.entries({ ...checkpoint?.values, ...options.values })),
    state: createSharedState(state),
    resumption,
    newId: options.newId,
    clock: options.clock,
    shouldStop,
    addUsage: (one) => usage.push(one),
    report: options.onProblem,
  }
}

/** Saved first, announced then: a question that a client has seen can always be answered. */
async function pause(run: ActiveRun, scope: RunScope, { points, frames }: Interrupted): Promise<Outcome> {
  const { agent, input, options, stream, checkpoint: before } = run
  const answered = [...(before?.answered ?? []), ...scope.resumption.answers.keys()]
  const checkpoint = sealCheckpoint({
    version: 1,
    threadId: input.threadId,
    runId: scope.resumption.originRunId,
    agents: agentTree(agent),
    messages: stream.held.messages,
    state: stream.held.state,
    values: Object.fromEntries(scope.values),
    points,
    frames,
    answered,
  })
  await options.checkpoints?.save(input.threadId, checkpoint)
  return ask(run, checkpoint)
}

function ask({ stream, ended }: ActiveRun, checkpoint: Checkpoint): Outcome {
  const interrupts = checkpoint.points.map(({ interrupt }) => interrupt)
  stream.finish({ type: 'interrupt', interrupts, usage: ended().usage })
  return { type: 'interrupted', interrupts, checkpoint, ...ended() }
}

async function complete(
  run: ActiveRun,
  control: Extract<Control, { type: 'done' | 'exit' | 'break' }>,
): Promise<Outcome> {
  const { input, options, stream, ended, checkpoint } = run
  const result = 'result' in control && control.result !== undefined ? { result: control.result } : {}
  if (checkpoint && checkpoint.points.length > 0) {
    const answered = [...checkpoint.answered, ...checkpoint.points.map(({ interrupt }) => interrupt.id)]
    await options.checkpoints?.save(input.threadId, { ...checkpoint, points: [], frames: {}, answered })
  }
  stream.finish({ type: 'success', ...result, usage: ended().usage })
  const { messages } = stream.held
  const pendingToolCalls = run.ledger.pendingCalls(messages)
  return { type: 'completed', text: run.ledger.text(messages), ...result, pendingToolCalls, ...ended() }
}

/** What the user has seen stays in the conversation, marked as cut off. */
function cancel({ stream, ended }: ActiveRun): Outcome {
  if (!stream.ended)
    stream.finish({ type: 'cancelled', mark: { millrace: { cancelled: true } }, usage: ended().usage })
  return { type: 'cancelled', ...ended() }
}

/** What a run has said for itself, taken from the events as they pass. */
function createLedger() {
  let lastTextId: string | undefined
  let pendingToolCallIds: readonly string[] = []
  return {
    see(event: AgUiEvent): void {
      if (event.type === 'TEXT_MESSAGE_START' && event.subagentRunId === undefined)
        lastTextId = event.messageId
      if (event.type === 'RUN_FINISHED' && event.outcome?.type === 'success') {
        pendingToolCallIds = event.outcome.pendingToolCallIds ?? []
      }
    },
    text(messages: readonly Message[]): string {
      const last = messages.findLast(({ id }) => id === lastTextId)
      return last?.role === 'assistant' ? (last.content ?? '') : ''
    },
    pendingCalls(messages: readonly Message[]): ToolCall[] {
      const ids = new Set(pendingToolCallIds)
      if (ids.size === 0) return []
      const calls = messages.flatMap((message) =>
        message.role === 'assistant' ? (message.toolCalls ?? []) : [],
      )
      return calls.filter(({ id }) => ids.has(id))
    },
  }
}
