import { toWireError } from '../core/errors.js'
import { stableHash } from '../core/hash.js'
import type { AgentEvent } from '../protocol/index.js'
import type { Agent, Control, DelegateOptions } from './agent.js'
import { afterWork, type WorkEnd } from './asker.js'
import type { AgentPlace, Place, RunScope } from './context.js'
import { addressBelow } from './history/address.js'
import { markEvents } from './history/mark.js'
import { readHistory, type HistoryScope } from './history/view.js'
import { waitingAt } from './resumption.js'
import { agentSpan } from './tracing.js'

export interface Delegation {
  readonly scope: RunScope
  /** Of the agent that delegates. */
  readonly place: Place
  readonly agent: Agent
  readonly options: DelegateOptions
}

type CreatePlace = (scope: RunScope, place: Place) => AgentPlace

/** Runs an agent below another. */
export async function* delegate(
  delegation: Delegation,
  createPlace: CreatePlace,
): AsyncGenerator<AgentEvent, Control> {
  const { scope, place, agent, options } = delegation
  const { segment, toolCallId, isLane = false, isSelf = false } = options
  const isCall = toolCallId !== undefined
  const address = addressBelow(place.address, { segment, name: agent.name, isCall, isLane })
  const waiting = waitingAt(scope.resumption, address)
  if (waiting) return { type: 'interrupted', ...waiting }
  const below = placeBelow(delegation, address)
  if (isSelf) return yield* runInPlace(agent, createPlace(scope, below), scope)
  const mark = isCall ? undefined : markEvents({ runId: scope.resumption.originRunId, address })
  return yield* inSpan(delegation, below, (child) => {
    const source = runInPlace(agent, createPlace(scope, child), scope)
    return withTag(source, below.subagentRunId ?? '', mark)
  })
}

function placeBelow({ scope, place, agent, options }: Delegation, address: string): Place {
  const { toolCallId, isSelf = false, messages, signal = place.signal, trace = place.trace } = options
  const subagentRunId = isSelf ? place.subagentRunId : spanId(scope, address)
  const heard: HistoryScope = messages ? { address, subagentRunId, given: messages } : place.scope
  const { originRunId } = scope.resumption
  const viewer = { name: agent.name, address, subagentRunId, scope: heard, originRunId }
  return {
    ...viewer,
    messages: readHistory(scope.held(), viewer),
    transferTargets: options.transferTargets ?? [],
    clientTools: toolCallId === undefined ? place.clientTools : [],
    signal,
    trace,
  }
}

/** The same in the run that resumes this one, so that a client can tell that the agent goes on. */
function spanId({ resumption }: RunScope, address: string): string {
  return `sub-${stableHash(`${resumption.originRunId}\n${address}`)}`
}

async function* inSpan(
  { place, agent, options: { toolCallId } }: Delegation,
  below: Place,
  start: (child: Place) => AsyncGenerator<AgentEvent, Control>,
): AsyncGenerator<AgentEvent, Control> {
  const { subagentRunId = '', signal } = below
  yield {
    type: 'SUBAGENT_STARTED',
    subagentRunId,
    name: agent.name,
    description: agent.description,
    ...(place.subagentRunId === undefined ? {} : { parentSubagentRunId: place.subagentRunId }),
    ...(toolCallId === undefined ? {} : { parentToolCallId: toolCallId }),
  }
  const span = agentSpan(agent.name, { parent: below.trace, signal })
  try {
    const control = yield* start({ ...below, trace: span.context })
    if (control.type === 'interrupted') span.interrupt()
    else if (control.type !== 'cancelled') span.end()
    yield { type: 'SUBAGENT_FINISHED', subagentRunId, ...suspension(control) }
    return control
  } catch (error) {
    span.fail(error)
    yield { type: 'SUBAGENT_ERROR', subagentRunId, ...toWireError(error) }
    throw error
  } finally {
    span.stop()
  }
}

function suspension(control: Control) {
  if (control.type !== 'interrupted') return {}
  const interruptIds = control.points.map(({ interrupt }) => interrupt.id)
  return { outcome: { type: 'suspended' as const, interruptIds } }
}

/** Runs an agent in its place. Its questions are its control, however they came up. */
function runInPlace(
  agent: Agent,
  { ctx, asker }: AgentPlace,
  { frames }: RunScope,
): AsyncGenerator<AgentEvent, Control> {
  let source: AsyncGenerator<AgentEvent, Control> | undefined
  const end = (how: WorkEnd<Control>): IteratorReturnResult<Control> => {
    const value = afterWork(asker, how)
    if (isOver(value)) frames.delete(ctx.address)
    return { done: true, value }
  }
  // Not a generator around the agent's: that would cost every event several turns of the microtask queue.
  return {
    next() {
      source ??= agent.run(ctx)
      return source.next().then(
        (step) => (step.done === true ? end({ value: step.value }) : step),
        (error: unknown) => end({ error }),
      )
    },
    return: async (value) => source?.return(value) ?? { done: true, value: await value },
    throw: async (error) => (source ??= agent.run(ctx)).throw(error),
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Whether the agent will not go on from here. */
function isOver(control: Control): boolean {
  if (control.type === 'done') return (control.pendingToolCallIds ?? []).length === 0
  return control.type !== 'interrupted' && control.type !== 'cancelled'
}

/** Marks what a child writes as its own. Its children have marked theirs already. */
async function* withTag<R>(
  source: AsyncGenerator<AgentEvent, R>,
  subagentRunId: string,
  mark: ((event: AgentEvent) => AgentEvent) | undefined,
): AsyncGenerator<AgentEvent, R> {
  try {
    for (;;) {
      const step = await source.next()
      if (step.done === true) return step.value
      const event = mark ? mark(step.value) : step.value
      yield 'subagentRunId' in event || event.type === 'MESSAGES_SNAPSHOT'
        ? event
        : { ...event, subagentRunId }
    }
  } finally {
    await source.return(undefined as R)
  }
}
