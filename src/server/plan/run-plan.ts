import type { Message } from '@ag-ui/core'
import type { MillraceError } from '../../core/errors.js'
import type { AgentEvent, RunInput } from '../../protocol/index.js'
import type { MessageChange, Thread } from '../../threads/contract.js'
import type { StateRulesHandle } from '../state/state-rules.js'

/** A request and what it meets. */
export interface TurnRequest {
  readonly thread: Thread | undefined
  readonly input: RunInput
  /** Whose list of messages counts. */
  readonly history: 'server' | 'client'
  readonly rules: StateRulesHandle
  /** Whether the client is one from before 1.0. */
  readonly isLegacy?: boolean
  /** How many messages were stored when the request came, if it had to wait since. */
  readonly arrivedAt?: number | undefined
}

/** What a run starts with. */
export interface TurnStart {
  /** The whole conversation. */
  readonly messages: readonly Message[]
  /** The same, as a change of the stored messages. */
  readonly change: MessageChange
  /** The full state. */
  readonly state: unknown
  /** Brings this client up to date before the agent says anything. With the full state: see `shownOpening`. */
  readonly opening: readonly AgentEvent[]
  /** Whether stored messages are cut off because the client edited or regenerates. */
  readonly fork: boolean
  /** The answers to open questions. */
  readonly resume: RunInput['resume']
}

/** What a request means for a thread. */
export type TurnPlan =
  | { readonly type: 'refuse'; readonly error: MillraceError }
  /** There is nothing to do and nothing to store: the run starts and finishes. */
  | { readonly type: 'nothing' }
  | ({ readonly type: 'run' } & TurnStart)
  /** Results were taken and others of the turn are missing: to be stored, without calling the agent. */
  | ({ readonly type: 'hold' } & TurnStart)
