import type { Event } from '@google/adk'
import type { EventSink } from '../../bridge/event-sink.js'
import { ToolCallTracker } from '../../bridge/tool-call-tracker.js'
import { toolErrorMark } from '../../protocol/index.js'
import type { FunctionResponse, Part } from '../adk-types.js'
import { isRequestCall, isWaitingForPerson } from '../interrupts/request-calls.js'
import type { AdkTranslatorOptions } from './adk-translator.js'
import type { AdkLane } from './lanes.js'
import { toJsonText, toResultText } from './outputs.js'

interface AdkToolCallsOptions extends Pick<
  AdkTranslatorOptions,
  'wireName' | 'isClientTool' | 'newId' | 'report'
> {
  readonly sink: EventSink
}

type CallEvent = Pick<Event, 'id' | 'longRunningToolIds'>

/** A call in a partial answer. */
interface PartialCall {
  readonly lane: AdkLane
  readonly part: Part
  readonly event: CallEvent
}

/** The tool calls of one run and their results. */
export class AdkToolCalls {
  readonly #options: AdkToolCallsOptions
  readonly #tracker: ToolCallTracker
  /** Calls that came in partial answers only. */
  readonly #partial = new Map<string, PartialCall>()
  /** The messages for the calls of events, chosen before the calls begin. */
  readonly #chosenMessages = new Map<string, string>()

  constructor(options: AdkToolCallsOptions) {
    this.#options = options
    this.#tracker = new ToolCallTracker(options)
  }

  get pendingIds(): readonly string[] {
    return this.#tracker.pendingIds
  }

  /** Takes a call of a partial answer. The complete answer repeats it, unless it never comes. */
  addPartial(lane: AdkLane, part: Part, event: CallEvent): void {
    const id = part.functionCall?.id
    if (id === undefined || isRequestCall(part.functionCall) || this.#tracker.has(id)) return
    this.#partial.set(id, { lane, part, event })
  }

  /** Chooses the message for the calls of an event. Undefined when it has none. */
  chooseMessage(lane: AdkLane, { id, content }: Event, isAtWork: boolean): string | undefined {
    const parts = content?.parts ?? []
    if (!parts.some(({ functionCall }) => functionCall && !isRequestCall(functionCall))) return undefined
    // Reasoning that was not streamed is written before the calls, and calls after reasoning begin a message.
    const isAfterReasoning =
      lane.reasoning.messageIds.length === 0 && parts.some(({ text, thought }) => thought === true && text)
    const current = isAfterReasoning || !isAtWork ? undefined : lane.writer.parentMessageId
    const messageId = current ?? lane.writer.newId('text')
    this.#chosenMessages.set(id, messageId)
    return messageId
  }

  write(lane: AdkLane, { functionCall, thoughtSignature }: Part, event: CallEvent): void {
    if (!functionCall || isRequestCall(functionCall)) return
    const { newId, wireName, isClientTool } = this.#options
    const { name = '', id = newId('call'), args } = functionCall
    const { author, writer, subagentRunId } = lane
    if (this.#tracker.has(id)) return
    this.#partial.delete(id)
    // The calls of one answer stand in one message.
    const parentMessageId = (writer.parentMessageId ??=
      this.#chosenMessages.get(event.id) ?? writer.newId('text'))
    // The client also answers calls of an agent's own long-running tool.
    const isPending = isClientTool(name, author) || event.longRunningToolIds?.includes(id) === true
    const call = { id, name: wireName(name, author), parentMessageId, subagentRunId, isPending }
    this.#tracker.write(call, toJsonText(args ?? {}))
    if (thoughtSignature !== undefined) this.#tracker.sendEncryptedValue(id, thoughtSignature, subagentRunId)
  }

  writeResult(lane: AdkLane, response: FunctionResponse, event: Event): void {
    const { id, name = '' } = response
    if (isRequestCall(response)) return
    // A workflow runs the tool of a node without a call.
    if (lane.kind === 'node' && id !== undefined && !this.#tracker.has(id)) return
    if (id === undefined) {
      this.#options.report(`a response of tool '${name}' has no id; it was left out`)
      return
    }
    // The tool has not run: it waits for a person, and runs after the answer.
    if (isWaitingForPerson(id, event)) return
    // ADK also runs calls of partial answers.
    const partial = this.#partial.get(id)
    if (partial) this.write(partial.lane, partial.part, partial.event)
    // The thread already has results of the client.
    if (this.#options.isClientTool(name, lane.author) && !this.#tracker.isPending(id)) return
    // An earlier run may have made the call.
    this.#tracker.addKnown(id)
    const content = toResultText(response.response)
    const { subagentRunId } = lane
    const metadata = isFailure(response.response) ? toolErrorMark : undefined
    this.#tracker.result({ toolCallId: id, messageId: `result-${id}`, content, metadata, subagentRunId })
  }

  /** Writes the calls for the client that came in partial answers only. */
  writePartial(): void {
    for (const [id, { lane, part, event }] of [...this.#partial]) {
      if (event.longRunningToolIds?.includes(id)) this.write(lane, part, event)
    }
    this.#partial.clear()
  }

  /** Forgets partial calls: the attempt has failed. */
  dropPartial(): void {
    this.#partial.clear()
  }
}

/** ADK gives models the error of a tool that threw as `{ error }`. */
function isFailure(response: FunctionResponse['response']): boolean {
  return typeof response?.error === 'string' && Object.keys(response).length === 1
}
