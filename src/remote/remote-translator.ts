import type { Message } from '@ag-ui/core'
import { spanTag } from '../bridge/spans.js'
import type { IdSource } from '../core/ids.js'
import {
  createFold,
  stateEventBetween,
  type AgentEvent,
  type AgUiEvent,
  type EventOf,
  type Fold,
} from '../protocol/index.js'
import { toAgUiEvent, toRawEvent, type RawEvent } from './check-event.js'
import type { RemoteIds } from './remote-ids.js'
import { eventsMissingFrom, RunMessages } from './snapshot.js'

export type RemoteEnd = EventOf<'RUN_FINISHED' | 'RUN_ERROR'>

export interface RemoteTranslatorOptions {
  /** The agent's name, for error messages. */
  readonly name: string
  /** The id of the run that the agent got. */
  readonly runId: string
  /** The messages that the agent got. */
  readonly messages: readonly Message[]
  readonly ids: RemoteIds
  /** Whether the agent may change the shared state. */
  readonly sharesState: boolean
  readonly readState: () => unknown
  readonly setState: (next: unknown) => AgentEvent
  readonly newId: IdSource
  readonly report: (problem: string, error?: unknown) => void
}

const nothing: readonly AgentEvent[] = Object.freeze([])

/** Turns the agent's events into events of this run. Throws INVALID_EVENT for malformed ones. */
export class RemoteTranslator {
  /** The terminal event of the newest run in the stream. */
  end: RemoteEnd | undefined
  readonly #options: RemoteTranslatorOptions
  readonly #messages: RunMessages
  /** The state as the agent knows it. */
  readonly #state: Fold
  readonly #toReasoning: (event: RawEvent) => RawEvent
  #isOwnRun = true

  constructor(options: RemoteTranslatorOptions) {
    this.#options = options
    this.#messages = new RunMessages(options.messages)
    this.#state = createFold({ state: options.readState() })
    this.#toReasoning = createLegacyReasoningReader(options.newId)
  }

  /** Whether the requested run has ended. A stream may repeat earlier runs first. */
  get isOver(): boolean {
    return this.end !== undefined && this.#isOwnRun
  }

  /** The calls of this run without a result, in order, by their remote ids. */
  openCalls(): string[] {
    return this.#messages.openCalls()
  }

  translate(value: unknown): readonly AgentEvent[] {
    const { name, report } = this.#options
    const raw = this.#toReasoning(toRawEvent(value, name))
    const event = toAgUiEvent(raw, name)
    if (event) return this.#route(event, raw)
    report(`agent '${name}': '${raw.type}' is not an AG-UI 1.0 event; it was left out`)
    return nothing
  }

  #route(event: AgUiEvent, raw: RawEvent): readonly AgentEvent[] {
    const { runId, name, ids, sharesState } = this.#options
    switch (event.type) {
      case 'RUN_STARTED':
        this.#isOwnRun = event.runId === runId
        this.end = undefined
        return nothing
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        this.end = event
        return nothing
      case 'STATE_SNAPSHOT':
      case 'STATE_DELTA':
        return sharesState ? this.#changeState(event) : nothing
      case 'MESSAGES_SNAPSHOT':
        return eventsMissingFrom(this.#messages, raw, name).map((missing) => this.#show(missing))
      case 'SUBAGENT_STARTED':
      case 'SUBAGENT_FINISHED':
        return [ids.toLocalEvent(event)]
      default:
        return [this.#show(event)]
    }
  }

  #show(event: AgentEvent): AgentEvent {
    this.#messages.add(event)
    return this.#options.ids.toLocalEvent(event)
  }

  /**
   * Applies a change of the agent's state to the shared one. The agent works on the state it was started with; what others
   * changed meanwhile stays, unless both changed the same.
   */
  #changeState(event: EventOf<'STATE_SNAPSHOT' | 'STATE_DELTA'>): readonly AgentEvent[] {
    const { ids, readState, setState, report } = this.#options
    const before = this.#state.state
    const problem = this.#state.apply(event)
    if (problem !== undefined) {
      report(problem)
      return nothing
    }
    const { subagentRunId } = event
    const tag = subagentRunId === undefined ? {} : spanTag(ids.spanId(subagentRunId))
    return [{ ...setState(rebaseState(readState(), before, this.#state.state)), ...tag }]
  }
}

/** The shared state with the change from `before` to `after`. */
function rebaseState(shared: unknown, before: unknown, after: unknown): unknown {
  const change = stateEventBetween(before, after)
  if (change?.type === 'STATE_SNAPSHOT') return after
  const fold = createFold({ state: shared })
  return change && fold.apply(change) !== undefined ? after : fold.state
}

/** Reads the reasoning events of servers before 1.0, which have no ids. All other events pass as they are. */
function createLegacyReasoningReader(newId: IdSource): (event: RawEvent) => RawEvent {
  let spanId: string | undefined
  let messageId: string | undefined
  return (event) => {
    switch (event.type) {
      case 'THINKING_START': {
        const { title: _, ...rest } = event
        spanId = newId('reasoning')
        return { ...rest, type: 'REASONING_START', messageId: spanId }
      }
      case 'THINKING_TEXT_MESSAGE_START':
        messageId = newId('message')
        return { ...event, type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' }
      case 'THINKING_TEXT_MESSAGE_CONTENT':
        messageId ??= newId('message')
        return { ...event, type: 'REASONING_MESSAGE_CONTENT', messageId }
      case 'THINKING_TEXT_MESSAGE_END': {
        const endedId = messageId ?? ''
        messageId = undefined
        return { ...event, type: 'REASONING_MESSAGE_END', messageId: endedId }
      }
      case 'THINKING_END':
        return { ...event, type: 'REASONING_END', messageId: spanId ?? '' }
      default:
        return event
    }
  }
}
