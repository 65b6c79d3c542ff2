import type { TokenUsage } from '@ag-ui/core'
import { getUserInputRequests, type Event } from '@google/adk'
import { EventSink } from '../../bridge/event-sink.js'
import { spanTag } from '../../bridge/spans.js'
import type { IdSource } from '../../core/ids.js'
import { retryEventName, type AgentEvent } from '../../protocol/index.js'
import type { Part } from '../adk-types.js'
import { isRequestCall } from '../interrupts/request-calls.js'
import type { AdkRequest } from '../interrupts/to-interrupts.js'
import type { EventMark } from '../session/marks.js'
import type { StreamedCallPart } from '../tools/streamed-calls.js'
import { AdkCustomEvents, ErrorEvents, type AdkErrorEvent } from './custom-events.js'
import { AdkLanes, type AdkLane } from './lanes.js'
import { eventText, repeatsOutput, AdkOutput } from './outputs.js'
import { AdkSpans } from './spans.js'
import { AdkToolCalls } from './tool-calls.js'
import { hasFunctionCalls, isEndOfAnswer, UsageCounter } from './usage.js'

export interface AdkTranslatorOptions {
  readonly runId: string
  /** The agent whose events are the run's own; all others get a span. */
  readonly rootAuthor: string
  /** Whether an author is an agent. Others are workflow nodes: a function, a tool, a join. */
  readonly isAgent: (author: string) => boolean
  /** Whether the author is an agent with an output schema: its text is data, not chat. */
  readonly hidesText: (author: string) => boolean
  /** The client's name of a tool. */
  readonly wireName: (toolName: string, author?: string) => string
  readonly isClientTool: (toolName: string, author?: string) => boolean
  readonly parentSubagentRunId: string | undefined
  readonly newId: IdSource
  /** Applies a change of the session's state. Returns the event for the client, if the client may see a part of it. */
  readonly changeState: (delta: Readonly<Record<string, unknown>>) => AgentEvent | undefined
  /** Called once for each model call, at the latest by `finish`. */
  readonly addUsage: (usage: TokenUsage) => void
  readonly report: (problem: string, error?: unknown) => void
}

/**
 * Translates ADK's events of one run into AG-UI events: chunks and explicit ends, which the run stream makes strict. Reads
 * ADK's events only, and keeps none but those with a request to a person.
 */
export class AdkTranslator {
  readonly #options: AdkTranslatorOptions
  readonly #sink = new EventSink()
  readonly #lanes: AdkLanes
  readonly #spans: AdkSpans
  readonly #calls: AdkToolCalls
  readonly #usage: UsageCounter
  readonly #errors: ErrorEvents
  readonly #customEvents: AdkCustomEvents
  readonly #output = new AdkOutput()
  readonly #requests: AdkRequest[] = []
  /** The state change of the last partial event. */
  #partialState: StateDelta | undefined

  constructor(options: AdkTranslatorOptions) {
    const sink = this.#sink
    this.#options = options
    this.#lanes = new AdkLanes({ ...options, sink })
    this.#spans = new AdkSpans({ ...options, sink })
    this.#calls = new AdkToolCalls({ ...options, sink })
    this.#usage = new UsageCounter(options.addUsage)
    this.#errors = new ErrorEvents({ ...options, sink })
    this.#customEvents = new AdkCustomEvents({ ...options, sink })
  }

  /** Calls left to the client, in order. */
  get pendingCallIds(): readonly string[] {
    return this.#calls.pendingIds
  }

  /** ADK's requests to a person, each once. */
  get requests(): readonly AdkRequest[] {
    return this.#requests
  }

  /** The last error event, unless useful output followed. */
  get error(): AdkErrorEvent | undefined {
    return this.#errors.current
  }

  /** The output of the last agent with an output schema, or of the workflow itself. */
  get output(): unknown {
    return this.#output.latest
  }

  /** The mark for an event about to be stored. Call it before `translate`, for events that are not partial. */
  mark(event: Event): EventMark {
    const { runId } = this.#options
    if (event.author === 'user' || event.partial === true) return { runId }
    const lane = this.#lanes.of(event)
    const hasText = eventText(event) !== '' && isChat(lane, event)
    const callsIn = hasText ? undefined : this.#calls.chooseMessage(lane, event, this.#spans.isAtWork(lane))
    return {
      runId,
      ...(hasText ? { messageIds: lane.messageIdsOf('text') } : {}),
      ...(callsIn === undefined ? {} : { callsIn }),
      ...(eventText(event, true) === '' ? {} : { reasoningIds: lane.messageIdsOf('reasoning') }),
    }
  }

  /** Never throws because of the content of an event. */
  translate(event: Event): readonly AgentEvent[] {
    if (event.author === 'user') return this.#sink.take()
    if (event.partial === true) this.#takePartial(event)
    else if (event.errorCode === 'RETRY_ATTEMPT') this.#takeRetry(event)
    else this.#takeComplete(event)
    return this.#sink.take()
  }

  /** Ends the run, also a failed one: ends spans and steps, counts usage. */
  finish(): readonly AgentEvent[] {
    for (const lane of this.#lanes.all()) {
      lane.finishAnswer()
      this.#usage.count(lane)
    }
    this.#calls.writePartial()
    if (this.#requests.length === 0 && !this.#errors.current) {
      this.#writeOutput()
    }
    this.#spans.finish()
    return this.#sink.take()
  }

  /** The path of every token. */
  #takePartial(event: Event): void {
    const parts = event.content?.parts
    if (parts === undefined || parts.length === 0) {
      // The progress of a tool, for example. It does not name its branch.
      const near = this.#lanes.near(event)
      this.#customEvents.addMetadata(near, event)
      this.#changePartialState(near, event)
      return
    }
    const lane = this.#lanes.of(event)
    if (this.#errors.current && parts.some(({ text }) => text)) this.#errors.overcome()
    for (const part of parts) {
      if (part.functionCall) this.#calls.addPartial(lane, part, event)
      else if ('streamedCall' in part) this.#streamCall(lane, part as StreamedCallPart)
      else this.#writeChunk(lane, part)
    }
    if (event.usageMetadata !== undefined) this.#usage.record(lane, event)
    if (event.customMetadata !== undefined) this.#customEvents.addMetadata(lane, event)
    this.#changePartialState(lane, event)
  }

  #streamCall(lane: AdkLane, { streamedCall }: StreamedCallPart): void {
    this.#spans.enter(lane)
    lane.hasOutput = true
    lane.writer.end()
    this.#calls.stream(lane, streamedCall)
  }

  #writeChunk(lane: AdkLane, part: Part): void {
    const { text, thought } = part
    if (text !== undefined && text !== '') {
      lane.hasOutput = true
      if (thought === true || !lane.hidesText) {
        this.#spans.enter(lane)
        lane.writeChunk(thought === true ? 'reasoning' : 'text', text)
      }
    }
    if (part.thoughtSignature !== undefined) this.#sendSignature(lane, part)
  }

  #takeComplete(event: Event): void {
    const isEmpty = !event.content?.parts?.length
    // The error of a model does not name its branch.
    const isUnlocated = isEmpty && event.errorCode !== undefined && event.branch === undefined
    const lane = (isUnlocated ? this.#lanes.near(event) : undefined) ?? this.#lanes.of(event)
    if (!isEmpty || event.output !== undefined) {
      this.#spans.enter(lane)
      this.#errors.overcome()
    }
    this.#takeParts(lane, event)
    this.#customEvents.addAnnotations(lane, event)
    this.#customEvents.addMetadata(lane, event)
    this.#changeState(lane, event)
    this.#errors.record(lane, event)
    this.#usage.record(lane, event)
    this.#output.record(lane, event)
    this.#endModelCall(lane, event)
    if (event.output !== undefined) this.#spans.endStep(lane)
  }

  #takeParts(lane: AdkLane, event: Event): void {
    const parts = event.content?.parts ?? []
    if (parts.length === 0) {
      if (event.errorCode !== undefined) lane.breakOff()
      else if (isEndOfAnswer(event)) lane.finishAnswer()
      return
    }
    // ADK may run a call while the answer is still coming in: the rest of it, and the whole, come later.
    const isResult = parts.every(({ functionResponse }) => functionResponse)
    if (isResult) lane.writer.end()
    else this.#writeComplete(lane, event)
    for (const part of parts) this.#takePart(lane, part, event)
    if (isResult) lane.writer.parentMessageId = undefined
    this.#recordRequests(lane, event)
  }

  /** Writes the new parts of a complete answer, and ends it. Thoughts come first, as in the model. */
  #writeComplete(lane: AdkLane, event: Event): void {
    const parts = event.content?.parts ?? []
    lane.writeWhole('reasoning', eventText(event, true))
    for (const part of parts) if (part.thought === true) this.#sendSignature(lane, part)
    if (isChat(lane, event)) lane.writeWhole('text', eventText(event))
    for (const part of parts) if (part.thought !== true) this.#sendSignature(lane, part)
    lane.finishAnswer()
  }

  /** Sends the signature of text or reasoning. That of a call goes with the call. */
  #sendSignature(lane: AdkLane, part: Part): void {
    const { text, thought = false, thoughtSignature, ...rest } = part
    const isTextPart = text !== undefined || Object.keys(rest).length === 0
    if (thoughtSignature === undefined || !isTextPart || (!thought && lane.hidesText)) return
    this.#spans.enter(lane)
    lane.sendEncryptedValue(thought ? 'reasoning' : 'text', thoughtSignature)
  }

  #takePart(lane: AdkLane, part: Part, event: Event): void {
    const { functionCall, functionResponse } = part
    if (functionCall || part.text) lane.hasOutput = true
    if (functionCall) this.#calls.write(lane, part, event)
    else if (functionResponse) this.#calls.writeResult(lane, functionResponse, event)
    else this.#customEvents.addPart(lane, part)
  }

  #recordRequests({ span }: AdkLane, event: Event): void {
    if (!event.content?.parts?.some(({ functionCall }) => isRequestCall(functionCall))) return
    for (const request of getUserInputRequests(event)) {
      if (this.#requests.some((known) => known.request.interruptId === request.interruptId)) continue
      if (span) span.isSuspended = true
      this.#requests.push({ request, event, subagentRunId: span?.subagentRunId })
    }
  }

  /** The deltas of an answer share what a callback has written: each delta would write it again. */
  #changePartialState(lane: AdkLane | undefined, event: Event): void {
    const stateDelta = stateDeltaOf(event)
    if (stateDelta === this.#partialState) return
    this.#partialState = stateDelta
    this.#changeState(lane, event)
  }

  #changeState(lane: AdkLane | undefined, event: Event): void {
    const stateDelta = stateDeltaOf(event)
    if (stateDelta === undefined || Object.keys(stateDelta).length === 0) return
    const changed = this.#options.changeState(stateDelta)
    if (changed) this.#sink.add({ ...changed, ...spanTag(lane?.subagentRunId) })
  }

  /** Decides whether the next event is of another model call. */
  #endModelCall(lane: AdkLane, event: Event): void {
    const isError = event.errorCode !== undefined && !event.content?.parts?.length
    if (isError) this.#usage.breakOff(lane)
    const isOver = isError || isEndOfAnswer(event)
    if (!isOver && event.finishReason === undefined) return
    lane.writer.parentMessageId = undefined
    // One more event, without content, follows an answer that ends with a call.
    if (isOver || !hasFunctionCalls(event)) lane.hasOutput = false
  }

  /** Rejects what a failed attempt has not completed: the session lacks it. A retry is progress, no error. */
  #takeRetry(event: Event): void {
    const reason = event.errorMessage ?? eventText(event)
    const rejected: string[] = []
    for (const lane of this.#lanes.all()) {
      lane.breakOff()
      rejected.push(...lane.rejectBroken(reason))
      this.#usage.breakOff(lane)
      lane.writer.parentMessageId = undefined
      lane.hasOutput = false
    }
    this.#calls.dropPartial()
    this.#errors.clear()
    const messageIds = rejected.length === 0 ? {} : { messageIds: rejected }
    this.#sink.add({ type: 'CUSTOM', name: retryEventName, value: { reason, ...messageIds } })
  }

  /** Writes the text output of a workflow as a message, if the run has written no other text. */
  #writeOutput(): void {
    const { unwritten } = this.#output
    if (!unwritten || [...this.#lanes.all()].some(({ hasShownText }) => hasShownText)) return
    const { lane, text, eventId } = unwritten
    lane.text.nextMessageId = `output-${eventId}`
    lane.writeWhole('text', text)
    lane.finishAnswer()
  }
}

type StateDelta = Event['actions']['stateDelta']

/** Answers of plugins may come without actions. */
function stateDeltaOf({ actions }: { readonly actions?: Partial<Event['actions']> }): StateDelta | undefined {
  return actions?.stateDelta
}

/** Whether the text of an event is for people, not the data of an agent or a node. */
function isChat(lane: AdkLane, event: Event): boolean {
  return !lane.hidesText && !repeatsOutput(lane, event)
}
