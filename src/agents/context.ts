import type { Context, Message, TokenUsage, Tool as ToolInfo } from '@ag-ui/core'
import type { Context as TraceContext } from '@opentelemetry/api'
import type { Clock } from '../core/clock.js'
import { toWireError } from '../core/errors.js'
import { stableHash } from '../core/hash.js'
import type { IdSource } from '../core/ids.js'
import type { AgentEvent } from '../protocol/index.js'
import type {
  Agent,
  Control,
  DelegateOptions,
  Identity,
  NativeEvents,
  RunContext,
  SafePoint,
} from './agent.js'
import { afterWork, createAsker, type Asker, type WorkEnd } from './asker.js'
import { waitingAt, type Resumption } from './resumption.js'
import type { SharedState } from './shared-state.js'
import { agentSpan } from './tracing.js'

/** What all contexts of one run share. */
export interface RunScope {
  readonly identity: Identity
  readonly threadId: string
  readonly runId: string
  readonly context: readonly Context[]
  readonly forwardedProps: unknown
  readonly values: Map<string, unknown>
  readonly state: SharedState
  readonly resumption: Resumption
  readonly newId: IdSource
  readonly clock: Clock
  readonly graceMs: number
  readonly toolTimeoutMs: number | undefined
  readonly shouldStop: (at: SafePoint) => boolean
  readonly addUsage: (usage: TokenUsage) => void
  readonly callId: (wanted: string) => string
  readonly report: (problem: string) => void
  readonly native: NativeEvents | undefined
}

interface Place {
  readonly address: string
  readonly messages: readonly Message[]
  readonly clientTools: readonly ToolInfo[]
  readonly signal: AbortSignal
  readonly subagentRunId: string | undefined
  readonly trace: TraceContext
}

/** A context and what the run needs to know of it. */
export interface AgentPlace {
  readonly ctx: RunContext
  readonly asker: Asker
}

export function createPlace(scope: RunScope, place: Place): AgentPlace {
  const { address, subagentRunId } = place
  const { resumption } = scope
  const tag = subagentRunId === undefined ? {} : { subagentRunId }
  const asker = createAsker({ address, resumption, defaults: { reason: 'input_required', ...tag } })
  const members: Omit<RunContext, 'state'> & { readonly [shared]: SharedState } = {
    [shared]: scope.state,
    app: scope.identity.app,
    user: scope.identity.user,
    threadId: scope.threadId,
    runId: scope.runId,
    address,
    subagentRunId,
    signal: place.signal,
    messages: place.messages,
    clientTools: place.clientTools,
    context: scope.context,
    forwardedProps: scope.forwardedProps,
    values: scope.values,
    setState: (next) => scope.state.set(next),
    interrupt: asker.interrupt,
    resumed: asker.resumed,
    answers: resumption.answers,
    takeFrame() {
      const frame = resumption.frames.get(address)
      resumption.frames.delete(address)
      return frame
    },
    waitingAt: (at = address) => waitingAt(resumption, at),
    asker: (at, defaults) => createAsker({ address: at, resumption, defaults: { ...defaults, ...tag } }),
    shouldStop: scope.shouldStop,
    addUsage: scope.addUsage,
    callId: scope.callId,
    report: scope.report,
    delegate: (agent, options) => delegate({ scope, place, agent, options }),
    newId: scope.newId,
    clock: scope.clock,
    graceMs: scope.graceMs,
    toolTimeoutMs: scope.toolTimeoutMs,
    trace: place.trace,
    native: scope.native,
  }
  const ctx = Object.defineProperty(members, 'state', liveState) as typeof members & {
    readonly state: unknown
  }
  return { ctx, asker }
}

const shared = Symbol('shared-state')

/**
 * The state as it is now, also when it is asked for through a context that inherits. One accessor for all contexts: with
 * one in each literal, every context would be an object of its own shape, which is slow and takes much room.
 */
const liveState: PropertyDescriptor & ThisType<{ readonly [shared]: SharedState }> = {
  get() {
    return this[shared].current
  },
  enumerable: true,
}

/** Where the root of a run stands. */
export function rootAddress({ name }: Pick<Agent, 'name'>): string {
  return encodeURIComponent(name)
}

/** Runs an agent in its place. Its questions are its control, however they came up. */
function runInPlace(agent: Agent, { ctx, asker }: AgentPlace): AsyncGenerator<AgentEvent, Control> {
  let source: AsyncGenerator<AgentEvent, Control> | undefined
  const end = (how: WorkEnd<Control>): IteratorReturnResult<Control> => ({
    done: true,
    value: afterWork(asker, how),
  })
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

interface Delegation {
  readonly scope: RunScope
  readonly place: Place
  readonly agent: Agent
  readonly options: DelegateOptions
}

async function* delegate({ scope, place, agent, options }: Delegation): AsyncGenerator<AgentEvent, Control> {
  const { segment, toolCallId, signal = place.signal, trace: parent = place.trace } = options
  const path = [segment, agent.name].flat().map((part) => encodeURIComponent(part))
  const address = [place.address, ...path].join('/')
  const waiting = waitingAt(scope.resumption, address)
  if (waiting) return { type: 'interrupted', ...waiting }
  // The same in the run that resumes this one, so that a client can tell that it goes on.
  const subagentRunId = `sub-${stableHash(`${scope.resumption.originRunId}\n${address}`)}`
  yield {
    type: 'SUBAGENT_STARTED',
    subagentRunId,
    name: agent.name,
    description: agent.description,
    ...(place.subagentRunId === undefined ? {} : { parentSubagentRunId: place.subagentRunId }),
    ...(toolCallId === undefined ? {} : { parentToolCallId: toolCallId }),
  }
  const messages = [...options.messages, ...saidBy(subagentRunId, scope.resumption)]
  const clientTools = toolCallId === undefined ? place.clientTools : []
  const span = agentSpan(agent.name, { parent, signal })
  const trace = span.context
  const child = createPlace(scope, { address, messages, clientTools, signal, subagentRunId, trace })
  try {
    const control = yield* withTag(runInPlace(agent, child), subagentRunId)
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

/** What a subagent has said before it was interrupted, as its own conversation has it. */
function saidBy(subagentRunId: string, { messages }: Resumption): Message[] {
  return messages.flatMap(({ subagentRunId: owner, ...message }) =>
    owner === subagentRunId ? [message] : [],
  )
}

/** Marks what a child writes as its own. Its children have marked theirs already. */
async function* withTag<R>(
  source: AsyncGenerator<AgentEvent, R>,
  subagentRunId: string,
): AsyncGenerator<AgentEvent, R> {
  try {
    for (;;) {
      const step = await source.next()
      if (step.done === true) return step.value
      const event = step.value
      yield 'subagentRunId' in event || event.type === 'MESSAGES_SNAPSHOT'
        ? event
        : { ...event, subagentRunId }
    }
  } finally {
    await source.return(undefined as R)
  }
}
