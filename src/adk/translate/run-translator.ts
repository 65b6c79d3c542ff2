import type { Event } from '@google/adk'
import type { AgentEvent } from '../../protocol/index.js'
import type { Part } from '../adk-types.js'
import type { EventMark } from '../session/event-mark.js'
import { createExtras, type Extras } from './extras.js'
import { createFailures, type Failure, type Failures } from './failures.js'
import { createLanes, tagOf, type Lane, type Lanes } from './lane.js'
import { createOutputs, outputMessageId, textOf, type Outputs } from './outputs.js'
import { createRequests, type Requests } from './requests.js'
import { isChat, sayPiece, sayWhole, type Saying } from './say.js'
import { createScopes, type Scopes } from './scopes.js'
import { createEventSink, type EventSink } from '../../agents/index.js'
import { ToolCalls, type PendingCall } from './tool-calls.js'
import type { AskedRequest, Translator, TranslatorOptions } from './translator.js'
import { createUsageCounter, hasCalls, isTail, type UsageCounter } from './usage.js'
import { Voice } from './voice.js'

/** A class: one event per token goes through it, and every kind of event touches most of its parts. */
export class RunTranslator implements Translator {
  readonly #options: TranslatorOptions
  readonly #sink: EventSink = createEventSink()
  readonly #lanes: Lanes
  readonly #voice: Voice
  readonly #scopes: Scopes
  readonly #saying: Saying
  readonly #calls: ToolCalls
  readonly #usage: UsageCounter
  readonly #failures: Failures
  readonly #extras: Extras
  readonly #outputs: Outputs = createOutputs()
  readonly #requests: Requests = createRequests()

  constructor(options: TranslatorOptions) {
    const sink = this.#sink
    this.#options = options
    this.#lanes = createLanes(options)
    this.#voice = new Voice({ ...options, sink })
    this.#scopes = createScopes({ ...options, sink, voice: this.#voice })
    this.#saying = { voice: this.#voice, scopes: this.#scopes }
    this.#calls = new ToolCalls({ ...options, sink })
    this.#usage = createUsageCounter(options.addUsage)
    this.#failures = createFailures(sink, options.report)
    this.#extras = createExtras({ ...options, sink })
  }

  get pendingCalls(): readonly PendingCall[] {
    return this.#calls.pending
  }

  get requests(): readonly AskedRequest[] {
    return this.#requests.all
  }

  get error(): Failure | undefined {
    return this.#failures.current
  }

  get output(): unknown {
    return this.#outputs.latest
  }

  mark(event: Event): EventMark {
    const { runId } = this.#options
    if (event.author === 'user' || event.partial === true) return { runId }
    const lane = this.#lanes.of(event)
    const hasText = textOf(event) !== '' && isChat(lane, event)
    const callsIn = hasText ? undefined : this.#calls.plan(lane, event, this.#scopes.isAtWork(lane))
    return {
      runId,
      ...(hasText ? { messageIds: this.#voice.idsOf(lane.text) } : {}),
      ...(callsIn === undefined ? {} : { callsIn }),
      ...(textOf(event, true) === '' ? {} : { reasoningIds: this.#voice.idsOf(lane.reasoning) }),
    }
  }

  translate(event: Event): readonly AgentEvent[] {
    if (event.author === 'user') return this.#sink.take()
    if (event.partial === true) this.#takePiece(event)
    else if (event.errorCode === 'RETRY_ATTEMPT') this.#takeRetry(event)
    else this.#takeWhole(event)
    return this.#sink.take()
  }

  finish(): readonly AgentEvent[] {
    for (const lane of this.#lanes.all()) {
      this.#voice.finish(lane)
      this.#usage.settle(lane)
    }
    this.#calls.sendLost()
    if (this.requests.length === 0 && !this.#failures.current) {
      this.#sayOutput()
      this.#calls.confirmPredicted()
    }
    this.#scopes.finish()
    return this.#sink.take()
  }

  /** The path of every token. */
  #takePiece(event: Event): void {
    const parts = event.content?.parts
    if (parts === undefined || parts.length === 0) {
      // The progress of a tool, for example. It does not say on which branch it is.
      this.#extras.metadata(this.#lanes.near(event), event)
      return
    }
    const lane = this.#lanes.of(event)
    if (this.#failures.current && parts.some(({ text }) => text)) this.#failures.overcome()
    for (const part of parts) {
      if (part.functionCall) this.#calls.preview(lane, part, event)
      else sayPiece(this.#saying, lane, part)
    }
    if (event.usageMetadata !== undefined) this.#usage.note(lane, event)
    if (event.customMetadata !== undefined) this.#extras.metadata(lane, event)
  }

  #takeWhole(event: Event): void {
    const isEmpty = !event.content?.parts?.length
    // The error of a model does not say on which branch it was.
    const isLost = isEmpty && event.errorCode !== undefined && event.branch === undefined
    const lane = (isLost ? this.#lanes.near(event) : undefined) ?? this.#lanes.of(event)
    if (!isEmpty || event.output !== undefined) {
      this.#scopes.enter(lane)
      this.#failures.overcome()
    }
    this.#takeParts(lane, event)
    this.#extras.note(lane, event)
    this.#extras.metadata(lane, event)
    this.#changeState(lane, event)
    this.#failures.note(lane, event)
    this.#usage.note(lane, event)
    this.#outputs.note(lane, event)
    this.#endTurn(lane, event)
    if (event.output !== undefined) this.#scopes.endStep(lane)
  }

  #takeParts(lane: Lane, event: Event): void {
    const parts = event.content?.parts ?? []
    if (parts.length === 0) {
      if (event.errorCode !== undefined || isTail(event)) this.#voice.finish(lane)
      return
    }
    // ADK may run a call while the answer is still coming in: the rest of it, and the whole, come later.
    const isAnswer = parts.every(({ functionResponse }) => functionResponse)
    if (isAnswer) this.#voice.pause(lane)
    else sayWhole(this.#saying, lane, event)
    for (const part of parts) this.#takePart(lane, part, event)
    if (isAnswer) lane.holder = undefined
    this.#requests.note(lane, event)
  }

  #takePart(lane: Lane, part: Part, event: Event): void {
    const { functionCall, functionResponse } = part
    if (functionCall || part.text) lane.hasSpoken = true
    if (functionCall) this.#calls.call(lane, part, event)
    else if (functionResponse) this.#calls.result(lane, functionResponse, event)
    else this.#extras.part(lane, part)
  }

  #changeState(lane: Lane, event: Event): void {
    // Answers of plugins may come without actions.
    const { stateDelta = {} } = (event.actions as Partial<Event['actions']> | undefined) ?? {}
    if (Object.keys(stateDelta).length === 0) return
    const changed = this.#options.changeState(stateDelta)
    if (changed) this.#sink.add({ ...changed, ...tagOf(lane) })
  }

  /** Whether what comes next is of another call of the model. */
  #endTurn(lane: Lane, event: Event): void {
    const isError = event.errorCode !== undefined && !event.content?.parts?.length
    if (isError) this.#usage.breakOff(lane)
    const isOver = isError || isTail(event)
    if (!isOver && event.finishReason === undefined) return
    lane.holder = undefined
    // After a call that was the last word comes one more event, without content.
    if (isOver || !hasCalls(event)) lane.hasSpoken = false
  }

  /** A run that is tried again: progress, no error. What the attempt has left open ends. */
  #takeRetry(event: Event): void {
    for (const lane of this.#lanes.all()) {
      this.#voice.finish(lane)
      this.#usage.breakOff(lane)
      lane.holder = undefined
      lane.hasSpoken = false
    }
    this.#calls.forgetPreviews()
    this.#failures.forget()
    const reason = event.errorMessage ?? textOf(event)
    this.#sink.add({ type: 'CUSTOM', name: 'millrace.retry', value: { reason } })
  }

  /** Who talks to a workflow expects an answer: a text that is its output is one, when it has said nothing else. */
  #sayOutput(): void {
    const { unsaid } = this.#outputs
    if (!unsaid || this.#voice.hasShownText) return
    const { lane, text, eventId } = unsaid
    lane.text.nextId = outputMessageId(eventId)
    this.#voice.whole(lane, lane.text, text)
    this.#voice.finish(lane)
  }
}
