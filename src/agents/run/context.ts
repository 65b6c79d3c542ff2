import type { Context, Message, Tool as ToolInfo } from '@ag-ui/core'
import type { Context as TraceContext } from '@opentelemetry/api'
import type { Agent, Identity, RunContext, RunServices, TransferTarget, InterruptScope } from '../contract.js'
import { NumberedInterrupts } from '../interrupts/interrupt-scope.js'
import { delegate } from './delegate.js'
import { readHistory, type HistoryScope } from '../history/history.js'
import { openInterruptsAt, type Resumption } from '../interrupts/resume.js'
import type { SharedState } from './shared-state.js'

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
  /** The conversation as it is now, with all that agents of this run have said. */
  readonly held: () => readonly Message[]
  /** The conversation as the client has it, for those behind a tool call, who hear only each other. */
  readonly shown?: () => readonly Message[]
  /** Where the agents at work stand, by address. */
  readonly frames: Map<string, () => unknown>
  readonly services: RunServices
}

/** Where an agent stands in a run. */
export interface Place {
  readonly name: string
  readonly address: string
  readonly messages: readonly Message[]
  readonly scope: HistoryScope
  readonly originRunId: string
  readonly transferTargets: readonly TransferTarget[]
  readonly clientTools: readonly ToolInfo[]
  readonly signal: AbortSignal
  readonly subagentRunId: string | undefined
  readonly trace: TraceContext
}

/** A context and what the run needs to know of it. */
export interface AgentPlace {
  readonly ctx: RunContext
  readonly asker: InterruptScope
}

export function createPlace(scope: RunScope, place: Place): AgentPlace {
  const { address, subagentRunId } = place
  const { resumption } = scope
  const tag = subagentRunId === undefined ? {} : { subagentRunId }
  const asker = new NumberedInterrupts({
    address,
    resumption,
    defaults: { reason: 'input_required', ...tag },
  })
  const members: Omit<RunContext, 'state'> & { readonly [shared]: SharedState } = {
    [shared]: scope.state,
    app: scope.identity.app,
    user: scope.identity.user,
    threadId: scope.threadId,
    runId: scope.runId,
    signal: place.signal,
    messages: place.messages,
    history: (rewrite) => readHistory(scope.held(), place, rewrite),
    values: scope.values,
    setState: (next) => scope.state.set(next),
    interrupt: asker.interrupt,
    resumed: asker.resumed,
    delegate: (agent, options) => delegate({ scope, place, agent, options }, createPlace),
    transferTargets: place.transferTargets,
    client: { tools: place.clientTools, context: scope.context, forwardedProps: scope.forwardedProps },
    span: { address, subagentRunId, trace: place.trace },
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
      interruptScope: (at, defaults) =>
        new NumberedInterrupts({ address: at, resumption, defaults: { ...defaults, ...tag } }),
    },
    services: scope.services,
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
