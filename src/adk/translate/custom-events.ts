import type { Event } from '@google/adk'
import type { EventSink } from '../../bridge/event-sink.js'
import { spanTag } from '../../bridge/spans.js'
import type { Part } from '../adk-types.js'
import { adkError } from '../retry/failures.js'
import type { AdkLane } from './lanes.js'
import { isEndOfAnswer } from './usage.js'

export interface AdkCustomEventsOptions {
  readonly sink: EventSink
  readonly report: (problem: string, error?: unknown) => void
}

/** Sends as CUSTOM events what AG-UI has no event for: artifacts, sources, metadata, code, media. */
export class AdkCustomEvents {
  readonly #options: AdkCustomEventsOptions
  readonly #sent = new Set<unknown>()

  constructor(options: AdkCustomEventsOptions) {
    this.#options = options
  }

  /** Sends the artifacts, sources and citations of a complete answer. */
  addAnnotations(lane: AdkLane, { actions, groundingMetadata, citationMetadata }: Event): void {
    const { parentMessageId } = lane.writer
    const messageId = parentMessageId === undefined ? {} : { messageId: parentMessageId }
    if (groundingMetadata && this.#isNew(groundingMetadata))
      this.#add(lane, 'adk.grounding', { ...messageId, metadata: groundingMetadata })
    if (citationMetadata && this.#isNew(citationMetadata))
      this.#add(lane, 'adk.citations', { ...messageId, metadata: citationMetadata })
    for (const [name, version] of Object.entries(artifactDelta(actions))) {
      if (this.#isNew(`artifact ${version} ${name}`)) this.#add(lane, 'adk.artifact', { name, version })
    }
  }

  /** Sends the metadata that others have put on an event. */
  addMetadata(lane: AdkLane | undefined, { customMetadata = {} }: Event): void {
    const { millrace: _mark, ...metadata } = customMetadata
    if (Object.keys(metadata).length === 0) return
    if (isJsonValue(metadata)) this.#add(lane, 'adk.metadata', metadata)
    else if (this.#isNew('metadata'))
      this.#options.report('the metadata of an event is not JSON; it was left out')
  }

  /** Sends a part that is no text, call or response. */
  addPart(lane: AdkLane, part: Part): void {
    const { executableCode, codeExecutionResult, inlineData, fileData } = part
    if (executableCode) this.#add(lane, 'adk.code', { executableCode })
    else if (codeExecutionResult) this.#add(lane, 'adk.code', { codeExecutionResult })
    else if (inlineData) this.#add(lane, 'adk.media', inlineData)
    else if (fileData) this.#add(lane, 'adk.media', fileData)
    else {
      const kind = Object.keys(part).find((key) => !partAttributes.has(key))
      if (kind !== undefined && this.#isNew(`part ${kind}`))
        this.#options.report(`parts with '${kind}' are not sent to clients`)
    }
  }

  #add(lane: AdkLane | undefined, name: string, value: unknown): void {
    this.#options.sink.add({ type: 'CUSTOM', name, value, ...spanTag(lane?.subagentRunId) })
  }

  /** The events of one answer share these objects: each is sent once. */
  #isNew(value: unknown): boolean {
    if (this.#sent.has(value)) return false
    this.#sent.add(value)
    return true
  }
}

/** Members that describe a part. */
const partAttributes = new Set([
  ...['text', 'thought', 'thoughtSignature', 'videoMetadata', 'partMetadata', 'mediaResolution'],
])

// The answer of a plugin may be an event without actions.
function artifactDelta(actions: Event['actions'] | undefined): Readonly<Record<string, number>> {
  return actions?.artifactDelta ?? {}
}

/** Tools may put anything into metadata, and a value that cannot be encoded would end the run. */
function isJsonValue(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}

export interface AdkErrorEvent {
  readonly code: string
  readonly message: string
}

/** The error events of a run. None of them ends the run by itself: agents may continue. */
export class ErrorEvents {
  /** The latest error, unless useful output followed. */
  current: AdkErrorEvent | undefined
  /** The agent with the current error. */
  #source: { readonly author: string; readonly subagentRunId: string | undefined } | undefined
  readonly #options: AdkCustomEventsOptions

  constructor(options: AdkCustomEventsOptions) {
    this.#options = options
  }

  /** Takes the error of an event, or the reason why the model stopped. */
  record(lane: AdkLane, event: Event): void {
    const { errorCode, errorMessage: message = '', finishReason } = event
    const reason = errorCode ?? finishReason
    if (reason === undefined || reason === 'STOP') return
    const { subagentRunId } = lane
    // With or after an output, it is only the reason why the model stopped there.
    if (event.content?.parts?.length || (isEndOfAnswer(event) && lane.hasOutput)) {
      const value = { reason }
      this.#options.sink.add({ type: 'CUSTOM', name: 'adk.finish', value, ...spanTag(subagentRunId) })
    } else if (errorCode !== undefined) {
      if (this.current?.code === errorCode && this.current.message === message) return
      this.overcome()
      this.current = { code: errorCode, message }
      this.#source = { author: lane.author, subagentRunId }
    }
  }

  /** Call it on useful output: the error did not end the run. */
  overcome(): void {
    if (!this.current) return
    const { code, message } = this.current
    const { author = '', subagentRunId } = this.#source ?? {}
    this.current = undefined
    const { report, sink } = this.#options
    report(`agent '${author}' continued after an error`, adkError({ code, message }))
    sink.add({ type: 'CUSTOM', name: 'adk.error', value: { code, author }, ...spanTag(subagentRunId) })
  }

  /** Forgets the error: the run is retried. */
  clear(): void {
    this.current = undefined
  }
}
