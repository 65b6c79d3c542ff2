import type { Message, TokenUsage } from '@ag-ui/core'
import { EventSink } from '../../bridge/event-sink.js'
import type { IdSource } from '../../core/ids.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { GraphEvent, GraphEventOf, LangGraphOptions } from '../contract.js'
import { CustomEvents } from './custom-events.js'
import { EmittedMessages } from './emitted-messages.js'
import { ModelRuns } from './model-runs.js'
import { RewrittenMessages } from './rewritten-messages.js'
import { GraphSpans, type InterruptOrigin } from './spans.js'
import { StateMessages } from './state-messages.js'
import { GraphToolCalls } from './tool-calls.js'
import { ToolRuns } from './tool-runs.js'
import { VisibleState } from './visible-state.js'

export interface GraphTranslatorOptions extends Required<Pick<LangGraphOptions, 'subgraphs'>> {
  readonly parentSubagentRunId: string | undefined
  /** The messages of the thread. They are not sent again. */
  readonly messages: readonly Message[]
  readonly isClientTool: (name: string) => boolean
  /** Whether a key of the graph's state is not shared. Messages never are. */
  readonly isPrivate: (key: string) => boolean
  readonly newId: IdSource
  /** Takes the whole state that is shared. Returns the event that changes theirs, if anything changed. */
  readonly setState: (state: unknown) => AgentEvent | undefined
  /** Called once for each model call, at the latest by `finish`. */
  readonly addUsage: (usage: TokenUsage) => void
  readonly report: (problem: string, error?: unknown) => void
}

/** Turns the native events of one run into AG-UI events. Does not change the native events. */
export class GraphTranslator {
  readonly #options: GraphTranslatorOptions
  readonly #sink = new EventSink()
  readonly #spans: GraphSpans
  readonly #calls: GraphToolCalls
  readonly #messages: StateMessages
  readonly #models: ModelRuns
  readonly #tools: ToolRuns
  readonly #customEvents: CustomEvents
  readonly #visible: VisibleState
  /** The number of unknown events, by name. */
  readonly #unknown = new Map<string, number>()
  /** The state that is shared. */
  #shownState: Readonly<Record<string, unknown>> = {}

  constructor(options: GraphTranslatorOptions) {
    this.#options = options
    const visible = (this.#visible = new VisibleState(options.isPrivate, options.report))
    const base = { ...options, sink: this.#sink }
    const spans = (this.#spans = new GraphSpans(base))
    const calls = (this.#calls = new GraphToolCalls(base))
    const emitted = new EmittedMessages(base)
    const rewritten = new RewrittenMessages({ ...base, calls, emitted })
    const messages = (this.#messages = new StateMessages({ ...base, calls, rewritten }))
    this.#models = new ModelRuns({ ...base, spans, calls, messages, rewritten })
    this.#tools = new ToolRuns({ ...base, spans, calls, messages, visible })
    const patchState = (patch: Readonly<Record<string, unknown>>): void =>
      void this.#showState({ ...this.#shownState, ...patch })
    this.#customEvents = new CustomEvents({ ...base, calls, messages, emitted, visible, patchState })
  }

  /** Client tool calls without a result, in order. */
  get pendingCallIds(): readonly string[] {
    return this.#calls.pendingIds
  }

  /** The id that clients have for a call, by the graph's own id and the message that made it, if it is known. */
  shownCallId(graphId: string, messageId: string | undefined): string {
    return this.#calls.idIn(messageId, graphId)
  }

  /** Ids of the messages that clients have. They do not have user messages that the graph makes for itself. */
  get shownMessages(): ReadonlySet<string> {
    return this.#messages.shown
  }

  /** Where an interrupt was raised, by LangGraph's id. Undefined for breakpoints. */
  interruptOrigin(interruptId: string): InterruptOrigin | undefined {
    return this.#spans.interruptOrigin(interruptId)
  }

  /** Never throws because of the content of an event. */
  translate(event: GraphEvent): readonly AgentEvent[] {
    switch (event.type) {
      case 'model-chunk':
        this.#models.chunk(event)
        break
      case 'model-start':
        this.#models.start(event)
        break
      case 'model-end':
        this.#models.end(event)
        break
      case 'model-error':
        this.#models.error(event)
        break
      case 'tool-start':
        this.#tools.start(event)
        break
      case 'tool-output':
        this.#tools.output(event)
        break
      case 'tool-end':
        this.#tools.end(event)
        break
      case 'tool-error':
        this.#tools.error(event)
        break
      default:
        this.#translateOther(event)
    }
    return this.#sink.take()
  }

  /** Ends the translation: counts the tokens of model calls that broke off, and reports unknown events. */
  finish(): void {
    this.#models.finish()
    for (const [name, count] of this.#unknown)
      this.#options.report(`LangGraph sent '${name}' ${count} times, which is not known; it was left out`)
    this.#unknown.clear()
  }

  #translateOther(event: Exclude<GraphEvent, { type: `model-${string}` | `tool-${string}` }>): void {
    switch (event.type) {
      case 'node-start':
        this.#spans.startNode(event)
        break
      case 'node-end':
        this.#endNode(event)
        break
      case 'node-error':
        if (event.isInterrupt) this.#spans.addInterrupts(event.runId, event.error)
        this.#spans.endNode(event.runId)
        break
      case 'graph-start':
        this.#spans.startGraph(event)
        break
      case 'graph-end':
        this.#spans.endGraph(event.runId, { type: 'done' })
        break
      case 'graph-error':
        this.#failGraph(event)
        break
      case 'custom':
        this.#customEvents.write(event.name, event.value, this.#spans.of(event.runId).subagentRunId)
        break
      case 'values':
        if (this.#showState(event.values)) this.#messages.readState(event.values.messages)
        break
      case 'interrupts':
        break
      case 'unknown':
        this.#unknown.set(event.name, (this.#unknown.get(event.name) ?? 0) + 1)
    }
  }

  #endNode({ runId, output }: GraphEventOf<'node-end'>): void {
    const { subagentRunId } = this.#spans.of(runId)
    this.#models.rejectBroken(subagentRunId)
    this.#messages.readOutput(output, subagentRunId)
    this.#spans.endNode(runId)
  }

  #failGraph({ runId, error, isInterrupt }: GraphEventOf<'graph-error'>): void {
    if (isInterrupt) this.#spans.addInterrupts(runId, error)
    this.#spans.endGraph(runId, isInterrupt ? { type: 'suspended' } : { type: 'failed', error })
  }

  /** Returns false if the values are not a state. */
  #showState(values: Readonly<Record<string, unknown>>): boolean {
    const state = this.#visible.of(values)
    if (!state) return false
    this.#shownState = state
    const change = this.#options.setState(state)
    if (change) this.#sink.add(change)
    return true
  }
}
