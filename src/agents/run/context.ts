import type { Context, Message, Tool as ToolInfo } from '@ag-ui/core'
import type { Context as TraceContext } from '@opentelemetry/api'
import type {
  Claims,
  Identity,
  InterruptScope,
  RunContext,
  RunServices,
  TransferTarget,
} from '../contract.js'
import type { HistoryReader } from '../history/agent-history.js'
import type { Histories } from '../history/histories.js'
import { NumberedInterrupts } from '../interrupts/interrupt-scope.js'
import { openInterruptsAt, type Resumption } from '../interrupts/resume.js'
import { delegate } from './delegate.js'
import { stateTooLarge } from './size-limits.js'
import { jsonSize } from '../../core/json-size.js'
import { toJson } from '../../core/to-json.js'
import { createFold, type EventOf } from '../../protocol/index.js'

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
  /** The current conversation as each agent reads it. Behind a tool call: the messages there. */
  readonly histories: Histories
  /** The conversation as the client has it, with all messages of this run. */
  readonly clientMessages: () => readonly Message[]
  /** The frames of the running agents, by address. */
  readonly frames: Map<string, () => unknown>
  readonly services: RunServices
}

/** An agent's position in a run, and what it starts with there. */
export interface AgentPosition extends HistoryReader {
  readonly messages: readonly Message[]
  readonly transferTargets: readonly TransferTarget[]
  readonly clientTools: readonly ToolInfo[]
  readonly signal: AbortSignal
  readonly trace: TraceContext
}

/** A context and the interrupts raised through it. */
export interface AgentContext {
  readonly ctx: RunContext
  readonly interrupts: InterruptScope
}

export function createContext(scope: RunScope, position: AgentPosition): AgentContext {
  const { address, subagentRunId } = position
  const { resumption } = scope
  const tag = subagentRunId === undefined ? {} : { subagentRunId }
  const defaults = { reason: 'input_required', ...tag }
  const interrupts = new NumberedInterrupts({ address, resumption, defaults })
  const members: Omit<RunContext, 'state'> & { readonly [shared]: SharedState } = {
    [shared]: scope.state,
    app: scope.identity.app,
    user: scope.identity.user,
    claims: scope.identity.claims ?? noClaims,
    threadId: scope.threadId,
    runId: scope.runId,
    signal: position.signal,
    messages: position.messages,
    history: (rewrite) => scope.histories.read(position, rewrite),
    values: scope.values,
    setState: (next) => scope.state.set(next),
    interrupt: interrupts.interrupt,
    resumed: interrupts.resumed,
    delegate: (agent, options) => delegate({ scope, position, agent, options }, createContext),
    transferTargets: position.transferTargets,
    client: { tools: position.clientTools, context: scope.context, forwardedProps: scope.forwardedProps },
    span: { address, subagentRunId, trace: position.trace },
    resume: {
      originRunId: resumption.originRunId,
      answers: resumption.answers,
      takeFrame() {
        const frame = resumption.frames.get(address)
        resumption.frames.delete(address)
        return frame
      },
      keepFrame(frame) {
        if (frame) scope.frames.set(address, frame)
        else scope.frames.delete(address)
      },
      openInterruptsAt: (at = address) => openInterruptsAt(resumption, at),
      interruptScope: (at, more) =>
        new NumberedInterrupts({ address: at, resumption, defaults: { ...more, ...tag } }),
    },
    services: scope.services,
  }
  const ctx = Object.defineProperty(members, 'state', liveState) as typeof members & {
    readonly state: unknown
  }
  return { ctx, interrupts }
}

const noClaims: Claims = Object.freeze({})

const shared = Symbol('shared-state')

/**
 * Reads the state as it is now, also through a context that inherits from another. One accessor for all contexts: one in
 * each literal would give every context an object shape of its own, which is slow and takes memory.
 */
const liveState: PropertyDescriptor & ThisType<{ readonly [shared]: SharedState }> = {
  get() {
    return this[shared].current
  },
  enumerable: true,
}

// Marks the events of `set` with their state. A copy of the event keeps the mark, one with another state does not.
const changedState = Symbol('state-change')

/** The state a run shares with its client. Works on a copy, made when it is first read: the caller's object stays as it is. */
export class SharedState {
  #value: unknown
  #isOwn = false
  readonly #maxBytes: number

  constructor(initial: unknown, maxBytes = Infinity) {
    this.#value = initial
    this.#maxBytes = maxBytes
  }

  get current(): unknown {
    if (!this.#isOwn && this.#value !== undefined) this.#value = toJson(this.#value, 'state')
    this.#isOwn = true
    return this.#value
  }

  /**
   * Replaces the state, by value or by a function of the current one. Throws ENCODING_ERROR, with the path, for a value
   * that cannot be JSON, and STATE_TOO_LARGE: nothing has changed then. The run stream computes the difference when it
   * writes the event.
   */
  set(next: unknown): EventOf<'STATE_SNAPSHOT'> {
    const value: unknown =
      typeof next === 'function' ? (next as (current: unknown) => unknown)(this.current) : next
    const own = toJson(value, 'state')
    if (jsonSize(own, this.#maxBytes) > this.#maxBytes) throw stateTooLarge(this.#maxBytes)
    this.#value = own
    this.#isOwn = true
    const event: EventOf<'STATE_SNAPSHOT'> = { type: 'STATE_SNAPSHOT', snapshot: this.#value }
    const marked = { ...event, [changedState]: this.#value }
    return marked
  }

  /** Takes over a change that an agent or a hook writes as an event. One that does not apply changes nothing. */
  take(event: EventOf<'STATE_SNAPSHOT' | 'STATE_DELTA'>): void {
    const fold = createFold({ state: this.current })
    fold.apply(event)
    this.#value = fold.state
    this.#isOwn = false
  }
}

/** Whether a snapshot is the unchanged event of `set`. */
export function isStateChange(event: EventOf<'STATE_SNAPSHOT'>): boolean {
  return changedState in event && event[changedState] === event.snapshot
}
