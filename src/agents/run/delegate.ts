import { toWireError } from '../../core/errors.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Agent, Control, DelegateOptions } from '../contract.js'
import { controlOf, type WorkEnd } from '../interrupts/interrupt-scope.js'
import type { AgentPlace, Place, RunScope } from './context.js'
import { isOver } from './control.js'
import { addressBelow, nameAt } from './address.js'
import { type CallRecord, createCallRecord } from '../history/call-record.js'
import { markEvents } from '../history/message-metadata.js'
import { readHistory, type HistoryScope } from '../history/history.js'
import { openInterruptsAt } from '../interrupts/resume.js'
import { agentSpan } from './tracing.js'
import type { Message, ToolCall } from '@ag-ui/core'
import { stableHash } from '../../core/hash.js'

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
    const value = controlOf(asker, how)
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

/** The span of an agent: the same in the run that resumes this one, so that a client can tell that it goes on. */
export function spanId({ resumption }: RunScope, address: string): string {
  return `sub-${stableHash(`${resumption.originRunId}\n${address}`)}`
}

/** Where it is kept how an agent ended, until the one that runs it has taken note. */
export function endKey(address: string): string {
  return `${address}/end`
}

/** Where the words of an agent are kept that works on a tool call, until it has answered. */
function wordsKey(address: string): string {
  return `${address}/words`
}

/** How an agent ended that is over already. The run was stopped before the one that runs it could take note. */
export function takeEnd({ resumption: { frames } }: RunScope, address: string): Control | undefined {
  const end = frames.get(endKey(address)) as Control | undefined
  frames.delete(endKey(address))
  return end
}

/** Begins to write down what is said behind a call, or goes on with it. */
export function openRecord(scope: RunScope, address: string): CallRecord {
  const { frames, resumption } = scope
  const kept = (resumption.frames.get(wordsKey(address)) ?? []) as readonly Message[]
  const before = withoutLost(kept, (scope.shown ?? scope.held)())
  resumption.frames.delete(wordsKey(address))
  // Their ids are taken: the conversation of the run, which says so of all others, may not have them.
  for (const { id } of before.flatMap(callsIn)) scope.services.callId(id)
  const record = createCallRecord({ name: nameAt(address), subagentRunId: spanId(scope, address), before })
  frames.set(wordsKey(address), () => record.close())
  return record
}

/** Without results that did not get to the client: the run was stopped while they were on their way. */
function withoutLost(kept: readonly Message[], shown: readonly Message[]): readonly Message[] {
  const arrived = new Set(shown.map(({ id }) => id))
  // Of agents that are not shown, nothing arrives anywhere.
  if (!kept.some(({ id }) => arrived.has(id))) return kept
  return kept.filter(({ id, role }) => role !== 'tool' || arrived.has(id))
}

function callsIn(message: Message): readonly ToolCall[] {
  return message.role === 'assistant' ? (message.toolCalls ?? []) : []
}

/** Nobody goes on at an agent that is over, nor below it. */
export function forget({ frames, resumption }: RunScope, address: string): void {
  for (const map of [frames, resumption.frames])
    for (const key of map.keys()) if (key === address || key.startsWith(`${address}/`)) map.delete(key)
}
