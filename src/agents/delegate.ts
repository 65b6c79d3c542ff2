import { toWireError } from '../core/errors.js'
import type { AgentEvent } from '../protocol/index.js'
import type { Agent, Control, DelegateOptions } from './agent.js'
import { afterWork, type WorkEnd } from './asker.js'
import type { AgentPlace, Place, RunScope } from './context.js'
import { isOver } from './control.js'
import { addressBelow } from './history/address.js'
import type { CallRecord } from './history/call-record.js'
import { markEvents } from './history/mark.js'
import { readHistory, type HistoryScope } from './history/view.js'
import { endKey, forget, openRecord, spanId, takeEnd } from './kept-frames.js'
import { openInterruptsAt } from './resumption.js'
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
  const { scope: around, place, agent, options } = delegation
  const { segment, toolCallId, isLane = false, isSelf = false } = options
  const isCall = toolCallId !== undefined
  const address = addressBelow(place.address, { segment, name: agent.name, isCall, isLane })
  const waiting = openInterruptsAt(around.resumption, address)
  if (waiting) return { type: 'interrupted', ...waiting }
  const over = takeEnd(around, address)
  if (over) return over
  const record = isCall ? openRecord(around, address) : undefined
  const scope = record && options.messages ? scopeBehind(around, record) : around
  const below = placeBelow({ ...delegation, scope }, address)
  if (isSelf) return yield* runInPlace(agent, createPlace(scope, below), scope)
  const mark = isCall ? undefined : markEvents({ runId: scope.resumption.originRunId, address })
  return yield* inSpan({ ...delegation, scope }, { below, record }, (child) => {
    const source = runInPlace(agent, createPlace(scope, child), scope)
    return withTag(source, below.subagentRunId ?? '', { mark, record })
  })
}

/** Those behind a call hear what was given to them and each other. */
function scopeBehind(around: RunScope, record: CallRecord): RunScope {
  return { ...around, held: () => record.messages, shown: around.shown ?? around.held }
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

interface Child {
  readonly below: Place
  /** Of what is said there, when it works on a tool call. */
  readonly record: CallRecord | undefined
}

async function* inSpan(
  { scope: { frames }, place, agent, options: { toolCallId } }: Delegation,
  { below, record }: Child,
  start: (child: Place) => AsyncGenerator<AgentEvent, Control>,
): AsyncGenerator<AgentEvent, Control> {
  const { address, subagentRunId = '', signal } = below
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
    const control = answered(yield* start({ ...below, trace: span.context }), record)
    if (control.type === 'interrupted') span.interrupt()
    else if (control.type !== 'cancelled') span.end()
    if (isOver(control)) frames.set(endKey(address), () => control)
    yield { type: 'SUBAGENT_FINISHED', subagentRunId, ...suspension(control) }
    // Of a call the result has still a way to go: the end is kept until the one who called is over.
    if (!record) frames.delete(endKey(address))
    return control
  } catch (error) {
    span.fail(error)
    yield { type: 'SUBAGENT_ERROR', subagentRunId, ...toWireError(error) }
    throw error
  } finally {
    span.stop()
  }
}

/** An agent that works on a tool call has one thing to give: its result, or else what it said last. */
function answered(control: Control, record: CallRecord | undefined): Control {
  if (!record || !isOver(control) || control.type === 'exit') return control
  const result = control.type === 'done' ? control.result : undefined
  return { type: 'done', result: result ?? record.lastWords() }
}

function suspension(control: Control) {
  if (control.type !== 'interrupted') return {}
  const interruptIds = control.openInterrupts.map(({ interrupt }) => interrupt.id)
  return { outcome: { type: 'suspended' as const, interruptIds } }
}

/** Runs an agent in its place. Its questions are its control, however they came up. */
function runInPlace(
  agent: Agent,
  { ctx, asker }: AgentPlace,
  scope: RunScope,
): AsyncGenerator<AgentEvent, Control> {
  let source: AsyncGenerator<AgentEvent, Control> | undefined
  const end = (how: WorkEnd<Control>): IteratorReturnResult<Control> => {
    const value = afterWork(asker, how)
    if (isOver(value)) forget(scope, ctx.span.address)
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

interface Watch {
  readonly mark: ((event: AgentEvent) => AgentEvent) | undefined
  readonly record: CallRecord | undefined
}

/** Marks what a child writes as its own. Its children have marked theirs already. */
async function* withTag<R>(
  source: AsyncGenerator<AgentEvent, R>,
  subagentRunId: string,
  { mark, record }: Watch,
): AsyncGenerator<AgentEvent, R> {
  try {
    for (;;) {
      const step = await source.next()
      if (step.done === true) return step.value
      const event = mark ? mark(step.value) : step.value
      const isTagged = 'subagentRunId' in event || event.type === 'MESSAGES_SNAPSHOT'
      const tagged = isTagged ? event : { ...event, subagentRunId }
      record?.see(tagged)
      yield tagged
    }
  } finally {
    await source.return(undefined as R)
  }
}
