import type { AgentEvent } from '../../protocol/index.js'
import type { GraphEvent } from '../graph-event.js'
import { createBusiness, type Business } from './business.js'
import { handOver } from './found-messages.js'
import { ModelRuns } from './model-runs.js'
import { createPlaces, type Asked, type Places } from './places.js'
import { createScopes, type ScopeEnd, type Scopes } from './scopes.js'
import { createEventSink, type EventSink } from '../../agents/index.js'
import { StateMessages } from './state-messages.js'
import { createTakenBack, type TakenBack } from './taken-back.js'
import { ToolCalls, type PendingCall } from './tool-calls.js'
import { ToolRuns } from './tool-runs.js'
import type { Translator, TranslatorOptions } from './translator.js'
import { createVisibleState, type VisibleState } from './visible-state.js'

type EventOf<T extends GraphEvent['type']> = Extract<GraphEvent, { type: T }>

/** A class: one event per token goes through it, and every kind of event touches most of its parts. */
export class RunTranslator implements Translator {
  readonly #options: TranslatorOptions
  readonly #sink: EventSink = createEventSink()
  readonly #places: Places = createPlaces()
  readonly #scopes: Scopes
  readonly #calls: ToolCalls
  readonly #messages: StateMessages
  readonly #takenBack: TakenBack
  readonly #models: ModelRuns
  readonly #tools: ToolRuns
  readonly #business: Business
  readonly #state: VisibleState
  readonly #unknown = new Map<string, number>()
  #hasAsked = false
  /** What clients see of the state. */
  #shown: Readonly<Record<string, unknown>> = {}

  constructor(options: TranslatorOptions) {
    const sink = this.#sink
    const places = this.#places
    this.#options = options
    this.#state = createVisibleState(options.isPrivate, options.report)
    const { safe } = this.#state
    const calls = (this.#calls = new ToolCalls({ ...options, sink }))
    const known = options.messages.map(({ id }) => id)
    const messages = (this.#messages = new StateMessages({ sink, calls, known }))
    const takenBack = (this.#takenBack = createTakenBack(sink, calls))
    this.#scopes = createScopes({ ...options, sink, places })
    const { addUsage, report, newId } = options
    this.#models = new ModelRuns({ sink, places, calls, messages, takenBack, addUsage, report })
    this.#tools = new ToolRuns({ sink, places, calls, messages, safe })
    const showState = (patch: Readonly<Record<string, unknown>>): void =>
      void this.#showState({ ...this.#shown, ...patch })
    this.#business = createBusiness({ sink, calls, messages, newId, safe, showState, report })
  }

  get pendingCalls(): readonly PendingCall[] {
    return this.#calls.pending
  }

  get told(): ReadonlySet<string> {
    return this.#messages.told
  }

  get hasExited(): boolean {
    return this.#business.hasExited
  }

  readonly spanOf = (runId: string | undefined): string | undefined => this.#places.of(runId).span

  readonly askedIn = (interruptId: string): Asked | undefined => this.#places.asked(interruptId)

  readonly toldAs = (messageId: string): string => this.#models.toldAs(messageId)

  translate(event: GraphEvent): readonly AgentEvent[] {
    switch (event.type) {
      case 'model-chunk':
        this.#models.piece(event)
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
        this.#takeOther(event)
    }
    return this.#sink.take()
  }

  finish(): readonly AgentEvent[] {
    this.#models.finish()
    this.#scopes.finish({ type: this.#hasAsked ? 'suspended' : 'done' })
    for (const [name, count] of this.#unknown)
      this.#options.report(
        `LangGraph sent '${name}' ${count} times, which has no meaning here; it was left out`,
      )
    this.#unknown.clear()
    return this.#sink.take()
  }

  #takeOther(event: Exclude<GraphEvent, { type: `model-${string}` | `tool-${string}` }>): void {
    switch (event.type) {
      case 'node-start':
        this.#scopes.startNode(event.runId, event.parentRunId, event.node)
        break
      case 'node-end':
        this.#endNode(event.runId, event.output)
        break
      case 'node-error':
        this.#failNode(event)
        break
      case 'graph-start':
        this.#scopes.startGraph(event.runId, event.parentRunId, event.name)
        break
      case 'graph-end':
        this.#scopes.endGraph(event.runId, { type: 'done' })
        break
      case 'graph-error':
        this.#failGraph(event)
        break
      case 'custom':
        this.#business.take(event.name, event.value, this.spanOf(event.runId))
        break
      case 'values':
        this.#takeValues(event)
        break
      case 'interrupts':
        this.#hasAsked = true
        break
      case 'unknown':
        this.#unknown.set(event.name, (this.#unknown.get(event.name) ?? 0) + 1)
    }
  }

  #endNode(runId: string, output: unknown): void {
    const span = this.spanOf(runId)
    this.#takenBack.overcome(span)
    this.#messages.takeOutput(output, span)
    this.#scopes.endNode(runId)
  }

  #failNode({ runId, error, isInterrupt }: EventOf<'node-error'>): void {
    if (isInterrupt) this.#places.noteAsked(runId, error)
    const given = handOver(error)
    if (given === undefined) this.#scopes.endNode(runId)
    else this.#endNode(runId, given)
  }

  #failGraph({ runId, error, isInterrupt }: EventOf<'graph-error'>): void {
    if (isInterrupt) this.#places.noteAsked(runId, error)
    const isHandOver = handOver(error) !== undefined
    const end: ScopeEnd = isHandOver ? { type: 'done' } : { type: 'failed', error }
    this.#scopes.endGraph(runId, isInterrupt ? { type: 'suspended' } : end)
  }

  #takeValues({ values }: EventOf<'values'>): void {
    if (!this.#showState(values)) return
    this.#messages.takeState(values.messages)
  }

  /** False when it is no state. */
  #showState(values: Readonly<Record<string, unknown>>): boolean {
    const state = this.#state.of(values)
    if (!state) return false
    this.#shown = state
    const changed = this.#options.setState(state)
    if (changed) this.#sink.add(changed)
    return true
  }
}
