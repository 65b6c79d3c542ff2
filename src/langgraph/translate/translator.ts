import type { Message, TokenUsage } from '@ag-ui/core'
import type { IdSource } from '../../core/ids.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { GraphEvent } from '../graph-event.js'
import type { Asked } from './places.js'
import { RunTranslator } from './run-translator.js'
import type { PendingCall } from './tool-calls.js'

export interface TranslatorOptions {
  readonly runId: string
  readonly parentSubagentRunId: string | undefined
  /** Messages the thread has: their ids are not sent again. */
  readonly messages: readonly Message[]
  readonly isClientTool: (name: string) => boolean
  /** Keys of the graph's state that clients do not see, besides messages. */
  readonly isPrivate: (key: string) => boolean
  /** Whether graphs inside the graph are shown as subagents, or what they do as the run's own, with steps `graph/node`. */
  readonly subgraphs: 'subagents' | 'steps'
  readonly newId: IdSource
  /** Takes the whole state that clients may see; gives the event that tells them, if it changes. */
  readonly setState: (state: unknown) => AgentEvent | undefined
  /** Called once for each call of a model, at the latest by `finish`. */
  readonly addUsage: (usage: TokenUsage) => void
  readonly report: (problem: string) => void
}

/**
 * Makes AG-UI events of the events of one run of a graph. Loose ones: the run stream orders and closes. Changes nothing
 * in what it is given.
 */
export interface Translator {
  /** Never throws for what is in an event. */
  translate(event: GraphEvent): readonly AgentEvent[]
  /** The end of the run, good or bad: closes what is open, counts tokens, reports what was not understood. */
  finish(): readonly AgentEvent[]
  /** Calls of client tools without a result, in order. */
  readonly pendingCalls: readonly PendingCall[]
  /** Which subagent span a LangGraph run stands in. Undefined for the run's own, and for one that is not known. */
  readonly spanOf: (runId: string | undefined) => string | undefined
  /** Where a question was asked, by LangGraph's id of it. Undefined for static breakpoints. */
  readonly askedIn: (interruptId: string) => Asked | undefined
  /** Ids of messages that clients have. What a graph says to itself in the name of a person they have not. */
  readonly told: ReadonlySet<string>
  /** The id that clients know a message of the state under: providers may tell the final one too late. */
  readonly toldAs: (messageId: string) => string
  /** Whether the graph has emitted `exit`. */
  readonly hasExited: boolean
}

/** A translator for one run. It shares nothing with any other. */
export function createTranslator(options: TranslatorOptions): Translator {
  return new RunTranslator(options)
}
