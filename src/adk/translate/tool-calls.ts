import type { Event } from '@google/adk'
import type { FunctionCall, FunctionResponse, Part } from '../adk-types.js'
import { tagOf, type Lane } from './lane.js'
import { confirmTool, predictStateEvent } from './predict-state.js'
import { toResultText, toText } from './result-text.js'
import type { EventSink } from '../../agents/index.js'
import type { TranslatorOptions } from './translator.js'

export interface PendingCall {
  readonly id: string
  readonly name: string
}

export interface ToolCallsOptions extends Pick<
  TranslatorOptions,
  'wireName' | 'isClientTool' | 'predictState' | 'newId' | 'report'
> {
  readonly sink: EventSink
}

type Awaiting = Pick<Event, 'id' | 'longRunningToolIds'>

interface Preview {
  readonly lane: Lane
  readonly part: Part
  readonly event: Awaiting
}

/** The calls of one run and their results. */
export class ToolCalls {
  readonly #options: ToolCallsOptions
  readonly #sent = new Set<string>()
  readonly #answered = new Set<string>()
  readonly #pending = new Map<string, PendingCall>()
  /** Calls that were only seen in pieces of an answer. */
  readonly #previews = new Map<string, Preview>()
  /** The messages that the calls of events stand in, told before they begin. */
  readonly #planned = new Map<string, string>()
  /** The tools with predicted state that were called. */
  readonly #predicted = new Set<string>()

  constructor(options: ToolCallsOptions) {
    this.#options = options
  }

  get pending(): readonly PendingCall[] {
    return [...this.#pending.values()]
  }

  /** A call in a piece of an answer. The whole answer has it again, unless it never comes. */
  preview(lane: Lane, part: Part, event: Awaiting): void {
    const id = part.functionCall?.id
    if (id === undefined || isRequest(part.functionCall) || this.#sent.has(id)) return
    this.#previews.set(id, { lane, part, event })
  }

  /** The message that the calls of an event are going to stand in. Undefined when it has none. */
  plan(lane: Lane, { id, content }: Event, isAtWork: boolean): string | undefined {
    const parts = content?.parts ?? []
    if (!parts.some(({ functionCall }) => functionCall && !isRequest(functionCall))) return undefined
    // Thoughts that were not streamed are said before the calls, and calls after thoughts begin a message.
    const isAnew =
      lane.reasoning.ids.length === 0 && parts.some(({ text, thought }) => thought === true && text)
    const messageId = (isAnew || !isAtWork ? undefined : lane.holder) ?? this.#options.newId('message')
    this.#planned.set(id, messageId)
    return messageId
  }

  call(lane: Lane, { functionCall, thoughtSignature }: Part, { id, longRunningToolIds }: Awaiting): void {
    if (!functionCall || isRequest(functionCall)) return
    const { newId, wireName, isClientTool, sink } = this.#options
    const { name = '', id: toolCallId = newId('call'), args } = functionCall
    if (this.#sent.has(toolCallId)) return
    this.#sent.add(toolCallId)
    this.#previews.delete(toolCallId)
    // A tool of the agent that does not answer at once leaves its answer to the client, too.
    if (isClientTool(name, lane.author) || longRunningToolIds?.includes(toolCallId))
      this.#pending.set(toolCallId, { id: toolCallId, name })
    this.#predict(name)
    // Calls of one turn stand in one message, as the model made them.
    const parentMessageId = (lane.holder ??= this.#planned.get(id) ?? newId('message'))
    const tag = tagOf(lane)
    sink.add({
      type: 'TOOL_CALL_START',
      toolCallId,
      toolCallName: wireName(name, lane.author),
      parentMessageId,
      ...tag,
    })
    sink.add({ type: 'TOOL_CALL_ARGS', toolCallId, delta: toText(args ?? {}), ...tag })
    sink.add({ type: 'TOOL_CALL_END', toolCallId, ...tag })
    if (thoughtSignature === undefined) return
    sink.add({
      type: 'REASONING_ENCRYPTED_VALUE',
      subtype: 'tool-call',
      entityId: toolCallId,
      encryptedValue: thoughtSignature,
      ...tag,
    })
  }

  result(lane: Lane, response: FunctionResponse, { actions }: Event): void {
    const { id, name = '' } = response
    // The tool of a node was called by the workflow: there is no call to answer.
    if (isRequest(response) || (lane.kind === 'node' && id !== undefined && !this.#sent.has(id))) return
    if (id === undefined) {
      this.#options.report(`a response of tool '${name}' has no id; it was left out`)
      return
    }
    // It has not run: it waits for a person, and runs when there is an answer.
    if (isWaiting(id, actions)) return
    this.#callAsPreviewed(id)
    // What the client has answered is in the thread already.
    if (this.#options.isClientTool(name, lane.author) && !this.#pending.has(id)) return
    if (this.#answered.has(id)) return
    this.#answered.add(id)
    this.#pending.delete(id)
    const content = toResultText(response.response)
    const messageId = `result-${id}`
    this.#options.sink.add({ type: 'TOOL_CALL_RESULT', messageId, toolCallId: id, content, ...tagOf(lane) })
  }

  /** Calls that never came in a whole answer and wait for the client would be lost. */
  sendLost(): void {
    for (const [id, { lane, part, event }] of [...this.#previews]) {
      if (event.longRunningToolIds?.includes(id)) this.call(lane, part, event)
    }
    this.#previews.clear()
  }

  /** An attempt was given up. */
  forgetPreviews(): void {
    this.#previews.clear()
  }

  /** Asks whether to keep what was predicted, once for each tool. */
  confirmPredicted(): void {
    const { predictState, newId, sink } = this.#options
    for (const name of this.#predicted) {
      if (!predictState.some(({ tool, confirm = true }) => tool === name && confirm)) continue
      const id = newId('call')
      this.#pending.set(id, { id, name: confirmTool })
      sink.add({ type: 'TOOL_CALL_START', toolCallId: id, toolCallName: confirmTool })
      sink.add({ type: 'TOOL_CALL_ARGS', toolCallId: id, delta: '{}' })
      sink.add({ type: 'TOOL_CALL_END', toolCallId: id })
    }
    this.#predicted.clear()
  }

  #predict(name: string): void {
    const { predictState, wireName, sink } = this.#options
    if (!predictState.some(({ tool }) => tool === name)) return
    // Clients keep the newest list only, so it has all tools.
    if (this.#predicted.size === 0) sink.add(predictStateEvent(predictState, wireName))
    this.#predicted.add(name)
  }

  /** ADK also runs the calls it finds in pieces. Then it was a call. */
  #callAsPreviewed(id: string): void {
    const preview = this.#previews.get(id)
    if (preview) this.call(preview.lane, preview.part, preview.event)
  }
}

/** Whether it is one of ADK's questions to a person, or the answer to one. */
export function isRequest(named: FunctionCall | FunctionResponse | undefined): boolean {
  return named?.name?.startsWith('adk_request_') ?? false
}

function isWaiting(id: string, actions: Event['actions'] | undefined): boolean {
  const { requestedAuthConfigs = {}, requestedToolConfirmations = {} } = actions ?? {}
  return id in requestedAuthConfigs || id in requestedToolConfirmations
}
