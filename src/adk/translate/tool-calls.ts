import type { Event } from '@google/adk'
import type { EventSink } from '../../bridge/event-sink.js'
import { ToolCallTracker } from '../../bridge/tool-call-tracker.js'
import { toolErrorMark } from '../../protocol/index.js'
import type { FunctionResponse, Part } from '../adk-types.js'
import { isRequestCall, isWaitingForPerson } from '../interrupts/request-calls.js'
import type { StreamedCall } from '../tools/streamed-calls.js'
import type { AdkTranslatorOptions } from './adk-translator.js'
import type { AdkLane } from './lanes.js'
import { toJsonText, toResultText } from './outputs.js'
import { StreamedArguments } from './streamed-arguments.js'

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

/** A call whose arguments are being written. */
interface OpenCall {
  readonly name: string
  readonly args: StreamedArguments
  readonly subagentRunId: string | undefined
}

/** The tool calls of one run and their results. */
export class AdkToolCalls {
  readonly #options: AdkToolCallsOptions
  readonly #tracker: ToolCallTracker
  /** Calls that came in partial answers only. */
  readonly #partial = new Map<string, PartialCall>()
  /** Calls whose arguments are being written. */
  readonly #streamed = new Map<string, OpenCall>()
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

  /** Shows a piece of a call. Until its answer is complete, nobody may execute it. */
  stream(lane: AdkLane, { id, name, partialArgs }: StreamedCall): void {
    const { author, writer, subagentRunId } = lane
    const call = this.#streamed.get(id) ?? { name, args: new StreamedArguments(), subagentRunId }
    if (!this.#streamed.has(id)) {
      this.#streamed.set(id, call)
      const parentMessageId = (writer.parentMessageId ??= writer.newId('text'))
      this.#tracker.start({ id, name: this.#options.wireName(name, author), parentMessageId, subagentRunId })
    }
    const delta = call.args.add(partialArgs)
    if (delta !== '') this.#tracker.args(id, delta, subagentRunId)
  }

  #finishStreamed(id: string, args?: unknown): void {
    const call = this.#streamed.get(id)
    if (!call) return
    this.#streamed.delete(id)
    const { rest, isSame } = call.args.finish(args ?? {})
    if (!isSame && args !== undefined)
      this.#options.report(`the arguments of '${call.name}' were streamed in another order than they have`)
    this.#tracker.args(id, rest, call.subagentRunId)
    this.#tracker.end(id, call.subagentRunId)
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
    if (this.#tracker.has(id) && !this.#streamed.has(id)) return
    this.#partial.delete(id)
    // The client also answers calls of an agent's own long-running tool.
    const isPending = isClientTool(name, author) || event.longRunningToolIds?.includes(id) === true
    // The calls of one answer stand in one message.
    const parentMessageId = (writer.parentMessageId ??=
      this.#chosenMessages.get(event.id) ?? writer.newId('text'))
    const call = { id, name: wireName(name, author), parentMessageId, subagentRunId }
    if (this.#streamed.has(id)) this.#finishStreamed(id, args ?? {})
    else this.#tracker.write(call, toJsonText(args ?? {}))
    if (isPending) this.#tracker.addPending(id)
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
    this.dropPartial()
  }

  /** Ends and forgets partial calls: the attempt has failed. */
  dropPartial(): void {
    this.#partial.clear()
    for (const id of this.#streamed.keys()) this.#finishStreamed(id)
  }
}

/** ADK gives models the error of a tool that threw as `{ error }`. */
function isFailure(response: FunctionResponse['response']): boolean {
  return typeof response?.error === 'string' && Object.keys(response).length === 1
}
