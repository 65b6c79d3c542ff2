import type { Message } from '@ag-ui/core'
import { toWireError } from '../../core/errors.js'
import { stableHash } from '../../core/ids.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Agent, Control, DelegateOptions } from '../contract.js'
import { CallRecord } from '../history/hidden-messages.js'
import type { HistoryScope } from '../history/agent-history.js'
import { Histories } from '../history/histories.js'
import { addOrigin } from '../history/message-origin.js'
import { controlOf, type WorkEnd } from '../interrupts/interrupt-scope.js'
import { openInterruptsAt } from '../interrupts/resume.js'
import { addressBelow, nameAt } from './address.js'
import type { AgentContext, AgentPosition, RunScope } from './context.js'
import { isOver } from './control.js'
import { timeLimitOf, withToolLimit, type TimeLimit } from './limits.js'
import { agentSpan } from './tracing.js'

export interface Delegation {
  readonly scope: RunScope
  /** The position of the agent that delegates. */
  readonly position: AgentPosition
  readonly agent: Agent
  readonly options: DelegateOptions
  /** The agent's own limit of time. */
  readonly limit: TimeLimit | undefined
}

type CreateContext = (scope: RunScope, position: AgentPosition) => AgentContext

/** Runs an agent below another. */
export function delegate(
  given: Omit<Delegation, 'limit'>,
  createContext: CreateContext,
): AsyncGenerator<AgentEvent, Control> {
  const delegation = withLimits(given)
  const { scope, position, agent, options } = delegation
  const { segment, toolCallId, isLane = false, isSelf = false } = options
  const isCall = toolCallId !== undefined
  const address = addressBelow(position.address, { segment, name: agent.name, isCall, isLane })
  if (!isSelf) return runInSpan(delegation, address, createContext)
  const control = savedControl(scope, address)
  if (control) return returning(control)
  return runAgent(delegation, createContext(scope, childPosition(delegation, address)), scope)
}

/** The delegation within the agent's own limits. */
function withLimits(given: Omit<Delegation, 'limit'>): Delegation {
  const { agent, position, options } = given
  const scope = withToolLimit(given.scope, agent)
  const limit = timeLimitOf(agent, options.signal ?? position.signal, scope.services)
  if (!limit) return { ...given, scope, limit }
  return { ...given, scope, limit, options: { ...options, signal: limit.signal } }
}

/** Runs an agent in a subagent span of its own, and marks its events as its own. */
async function* runInSpan(
  delegation: Delegation,
  address: string,
  createContext: CreateContext,
): AsyncGenerator<AgentEvent, Control> {
  const { scope: around, position, agent, options } = delegation
  const { toolCallId } = options
  const saved = savedControl(around, address)
  if (saved) return saved
  const record = toolCallId === undefined ? undefined : openRecord(around, address)
  const scope = record && options.messages ? scopeBehind(around, record) : around
  const child = childPosition({ ...delegation, scope }, address)
  const { subagentRunId = '', signal } = child
  const mark = record ? undefined : addOrigin({ runId: scope.resumption.originRunId, address })
  yield {
    type: 'SUBAGENT_STARTED',
    subagentRunId,
    name: agent.name,
    description: agent.description,
    ...(position.subagentRunId === undefined ? {} : { parentSubagentRunId: position.subagentRunId }),
    ...(toolCallId === undefined ? {} : { parentToolCallId: toolCallId }),
  }
  const span = agentSpan(agent.name, { parent: child.trace, signal })
  const source = runAgent(delegation, createContext(scope, { ...child, trace: span.context }), scope)
  try {
    let step = await source.next()
    for (; step.done !== true; step = await source.next()) {
      const event = mark ? mark(step.value) : step.value
      // Children of the child have tagged their events already.
      const isTagged = 'subagentRunId' in event || event.type === 'MESSAGES_SNAPSHOT'
      const tagged = isTagged ? event : { ...event, subagentRunId }
      record?.add(tagged)
      yield tagged
    }
    const ended = record ? toCallControl(step.value, record) : step.value
    const control = ended.type === 'interrupted' ? withSpan(ended, subagentRunId) : ended
    if (control.type === 'interrupted') span.interrupt()
    else if (control.type !== 'cancelled') span.end()
    if (isOver(control)) scope.frames.set(endKey(address), () => control)
    yield { type: 'SUBAGENT_FINISHED', subagentRunId, ...suspendedOutcome(control) }
    // The result of a call has not arrived yet: keep its end until the caller is over.
    if (!record) scope.frames.delete(endKey(address))
    return control
  } catch (error) {
    span.fail(error)
    yield { type: 'SUBAGENT_ERROR', subagentRunId, ...toWireError(error) }
    throw error
  } finally {
    await source.return({ type: 'cancelled' })
    span.stop()
  }
}

type Interrupted = Extract<Control, { type: 'interrupted' }>

/** Names the subagent of the interrupts that agents of other runtimes, or written by hand, have raised as a root would. */
function withSpan(control: Interrupted, subagentRunId: string): Interrupted {
  const openInterrupts = control.openInterrupts.map((open) =>
    open.interrupt.subagentRunId === undefined
      ? { ...open, interrupt: { ...open.interrupt, subagentRunId } }
      : open,
  )
  return { ...control, openInterrupts }
}

/**
 * The control of an agent that must not run: its interrupts are unanswered, or it was over when the run was stopped
 * and its caller did not learn of it.
 */
function savedControl({ resumption }: RunScope, address: string): Control | undefined {
  const open = openInterruptsAt(resumption, address)
  if (open) return { type: 'interrupted', ...open }
  const end = resumption.frames.get(endKey(address)) as Control | undefined
  resumption.frames.delete(endKey(address))
  return end
}

// eslint-disable-next-line require-yield
async function* returning(control: Control): AsyncGenerator<AgentEvent, Control> {
  return await Promise.resolve(control)
}

/** Agents behind a call see their input messages and each other's. */
function scopeBehind(around: RunScope, record: CallRecord): RunScope {
  return { ...around, histories: new Histories(() => record.settle()) }
}

function childPosition({ scope, position, agent, options }: Delegation, address: string): AgentPosition {
  const { toolCallId, isSelf = false, messages, signal = position.signal, trace = position.trace } = options
  const subagentRunId = isSelf ? position.subagentRunId : spanId(scope, address)
  const visible: HistoryScope = messages ? { address, subagentRunId, messages } : position.scope
  const { originRunId } = scope.resumption
  const reader = { name: agent.name, address, subagentRunId, isSelf, scope: visible, originRunId }
  return {
    ...reader,
    messages: scope.histories.read(reader),
    transferTargets: options.transferTargets ?? [],
    clientTools: toolCallId === undefined ? position.clientTools : [],
    signal,
    trace,
  }
}

/** The resumed run derives the same id, so that clients see one span. */
function spanId({ resumption }: RunScope, address: string): string {
  return `sub-${stableHash(`${resumption.originRunId}\n${address}`)}`
}

/** An agent behind a tool call returns its result, or else its last text. */
function toCallControl(control: Control, record: CallRecord): Control {
  if (!isOver(control) || control.type === 'exit') return control
  const result = control.type === 'done' ? control.result : undefined
  return { type: 'done', result: result ?? record.lastText() }
}

function suspendedOutcome(control: Control) {
  if (control.type !== 'interrupted') return {}
  const interruptIds = control.openInterrupts.map(({ interrupt }) => interrupt.id)
  return { outcome: { type: 'suspended' as const, interruptIds } }
}

/** Runs an agent in its context. Its interrupts become its control, thrown or returned. */
function runAgent(
  { agent, limit }: Delegation,
  { ctx, interrupts }: AgentContext,
  scope: RunScope,
): AsyncGenerator<AgentEvent, Control> {
  let source: AsyncGenerator<AgentEvent, Control> | undefined
  const end = (how: WorkEnd<Control>): IteratorReturnResult<Control> => {
    const value = controlOf(interrupts, how)
    if (isOver(value)) deleteFrames(scope, ctx.span.address)
    return { done: true, value }
  }
  const start = (): AsyncGenerator<AgentEvent, Control> => limit?.run(agent.run(ctx)) ?? agent.run(ctx)
  // Not a generator around the agent's: that would cost every event several turns of the microtask queue.
  return {
    next() {
      source ??= start()
      return source.next().then(
        (step) => (step.done === true ? end({ value: step.value }) : step),
        (error: unknown) => end({ error }),
      )
    },
    return: async (value) => source?.return(value) ?? { done: true, value: await value },
    throw: async (error) => (source ??= start()).throw(error),
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** The key of an agent's control, kept until its caller has it. */
function endKey(address: string): string {
  return `${address}/end`
}

/** The key of the messages behind a tool call, kept until it has its result. */
function recordKey(address: string): string {
  return `${address}/words`
}

/** Begins the record of the messages behind a call, or continues the saved one. */
function openRecord(scope: RunScope, address: string): CallRecord {
  const { frames, resumption, services } = scope
  const saved = (resumption.frames.get(recordKey(address)) ?? []) as readonly Message[]
  const before = withoutLostResults(saved, scope.clientMessages())
  resumption.frames.delete(recordKey(address))
  // Reserves the ids of its calls: the run's own conversation may not have them.
  for (const message of before)
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) services.callId(id)
  const record = new CallRecord({ name: nameAt(address), subagentRunId: spanId(scope, address), before })
  frames.set(recordKey(address), () => record.close())
  return record
}

/** Removes results that did not reach the client before the run was stopped. */
function withoutLostResults(saved: readonly Message[], shown: readonly Message[]): readonly Message[] {
  const arrived = new Set(shown.map(({ id }) => id))
  // Messages of hidden agents reach no client.
  if (!saved.some(({ id }) => arrived.has(id))) return saved
  return saved.filter(({ id, role }) => role !== 'tool' || arrived.has(id))
}

/** Deletes the frames of an agent that is over, and those below it. */
function deleteFrames({ frames, resumption }: RunScope, address: string): void {
  for (const map of [frames, resumption.frames])
    for (const key of map.keys()) if (key === address || key.startsWith(`${address}/`)) map.delete(key)
}
