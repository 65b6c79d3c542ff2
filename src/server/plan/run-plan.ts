import type { Message } from '@ag-ui/core'
import type { MillraceError } from '../../core/errors.js'
import type { AgentEvent, RunInput } from '../../protocol/index.js'
import type { MessageChange, PendingToolCall, Thread } from '../../threads/contract.js'
import type { StateRulesHandle } from '../state/state-rules.js'

/** A request and the thread it meets. */
export interface PlanRequest {
  readonly thread: Thread | undefined
  readonly input: RunInput
  /** Whose messages count. */
  readonly history: 'server' | 'client'
  readonly rules: StateRulesHandle
  /** The state of a new thread, before the client's. */
  readonly initialState?: unknown
  /** Whether the client speaks AG-UI before 1.0. */
  readonly isLegacy?: boolean
  /** How many messages were stored when the request came, if it had to wait since. */
  readonly messagesOnArrival?: number | undefined
}

/** What a request means for the stored thread. */
export type RunPlan =
  | { readonly type: 'refuse'; readonly error: MillraceError }
  /** Nothing to do and nothing to store: the run starts, brings the client up to date, and finishes. */
  | ({ readonly type: 'nothing' } & Pick<PlanDetails, 'catchUp'>)
  | StorePlan
  | AgentPlan

/** Run the agent. */
export interface AgentPlan extends PlanDetails {
  readonly type: 'run'
}

/** Store results while others are missing, or a changed state, without running the agent. */
export interface StorePlan extends PlanDetails {
  readonly type: 'store'
}

/** What a run starts with, or what is stored. */
export interface PlanDetails {
  /** The whole conversation. */
  readonly messages: readonly Message[]
  /** The same, as a change of the stored messages. */
  readonly change: MessageChange
  /** The full state. */
  readonly state: unknown
  /** Snapshots for this client before the agent's first event. They have the full state: see `toVisibleCatchUp`. */
  readonly catchUp: readonly AgentEvent[]
  /** Calls that waited for the client's results before the request. */
  readonly pendingToolCalls: readonly PendingToolCall[]
  /** Whether an edit or a regeneration cuts stored messages off. */
  readonly fork: boolean
  /** The answers to open interrupts. */
  readonly resume: RunInput['resume']
}
