import type { TokenUsage } from '@ag-ui/core'
import type { Event, UserInputRequest } from '@google/adk'
import type { IdSource } from '../../core/ids.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { EventMark } from '../session/event-mark.js'
import type { Failure } from './failures.js'
import type { PredictStateMapping } from '../options.js'
import { RunTranslator } from './run-translator.js'
import type { PendingCall } from './tool-calls.js'

export interface TranslatorOptions {
  readonly runId: string
  /** The agent whose events are the run's own; all others get a span. */
  readonly rootAuthor: string
  /** Whether an author is an agent. Others are nodes of a workflow: a function, a tool, a join. */
  readonly isAgent: (author: string) => boolean
  /** Agents with an output schema: what they write is data, not chat. */
  readonly hidesText: (author: string) => boolean
  /** The name a tool has for the client. */
  readonly wireName: (toolName: string, author?: string) => string
  readonly isClientTool: (toolName: string, author?: string) => boolean
  readonly predictState: readonly PredictStateMapping[]
  readonly parentSubagentRunId: string | undefined
  readonly newId: IdSource
  /** Takes a change of the session's state; gives the event that tells the client, if it may see any of it. */
  readonly changeState: (delta: Readonly<Record<string, unknown>>) => AgentEvent | undefined
  /** Called once for each call of a model, at the latest by `finish`. */
  readonly addUsage: (usage: TokenUsage) => void
  readonly report: (problem: string) => void
}

/** What ADK asks a person. */
export interface AskedRequest {
  readonly request: UserInputRequest
  /** The event it came in. */
  readonly event: Event
  /** The span of the agent that asks. Undefined for the run's own. */
  readonly subagentRunId: string | undefined
}

/**
 * Makes AG-UI events of the events of one run of ADK. Loose ones: the run stream orders and closes. Reads ADK's events
 * only, and keeps none but those that ask something.
 */
export interface Translator {
  /**
   * What to note on an event that is about to be stored. Called before `translate` of the same event, for those that are
   * not partial.
   */
  mark(event: Event): EventMark
  /** Never throws for what is in an event. */
  translate(event: Event): readonly AgentEvent[]
  /** The end of the run, good or bad: closes spans and steps, asks for confirmation of predicted state, counts tokens. */
  finish(): readonly AgentEvent[]
  /** Calls of client tools without a result, in order, under the names that ADK knows. */
  readonly pendingCalls: readonly PendingCall[]
  /** What ADK asks a person, each once. */
  readonly requests: readonly AskedRequest[]
  /** The last error event that nothing useful came after. */
  readonly error: Failure | undefined
  /** What the last agent with an output schema, or the workflow itself, has given. */
  readonly output: unknown
}

/** A translator for one run. It shares nothing with any other. */
export function createTranslator(options: TranslatorOptions): Translator {
  return new RunTranslator(options)
}
