import type { AssistantMessage, Message, ReasoningMessage, TokenUsage, ToolCall } from '@ag-ui/core'
import type { FinishReason, ModelPart } from '../../models/index.js'
import {
  rejectedCallContent,
  rejectedMark,
  rejectMessage,
  type AgentEvent,
  type EncryptedValueType,
  type EventOf,
} from '../../protocol/index.js'

/** A tool call the model made. */
export interface CallRequest {
  readonly id: string
  readonly name: string
  /** JSON text, as the model wrote it. */
  readonly args: string
}

export interface AnswerOptions {
  readonly newId: (prefix: string) => string
  /** Returns a unique id for a call: some providers count from one in every answer. */
  readonly callId: (wanted: string) => string
}

type DeltaPart = Extract<ModelPart, { type: 'text-delta' | 'reasoning-delta' }>
type AnswerDelta = EventOf<'TEXT_MESSAGE_CHUNK' | 'REASONING_MESSAGE_CHUNK'>

/**
 * One answer of a model: turns its parts into events and collects the messages they make. Deltas become chunks; opening,
 * closing and ordering of messages belong to the run stream.
 */
export class ModelAnswer {
  /** In order: reasoning and text, with tool calls in the assistant message before them or in one of their own. */
  readonly messages: Message[] = []
  readonly toolCalls: ToolCall[] = []
  finishReason: FinishReason = 'other'
  usage: TokenUsage | undefined
  readonly #options: AnswerOptions
  /** The message that the next delta of its kind belongs to. */
  #current: AssistantMessage | ReasoningMessage | undefined
  /** The assistant message for the next tool call. */
  #parent: AssistantMessage | undefined
  /** Calls that the model is writing, by the id that the model uses. */
  readonly #writing = new Map<string, ToolCall>()

  constructor(options: AnswerOptions) {
    this.#options = options
  }

  get calls(): CallRequest[] {
    return this.toolCalls.map(({ id, function: { name, arguments: args } }) => ({ id, name, args }))
  }

  get text(): string {
    return this.messages
      .map((message) => (message.role === 'assistant' ? (message.content ?? '') : ''))
      .join('')
  }

  /** Adds a delta. The path of every token: one event, nothing spread. */
  addDelta({ type, delta }: DeltaPart): AnswerDelta | undefined {
    // Some models begin with an empty delta, which makes no message.
    if (delta === '') return undefined
    const role = type === 'text-delta' ? 'assistant' : 'reasoning'
    const message = this.#current?.role === role ? this.#current : this.#begin(role)
    message.content = (message.content ?? '') + delta
    return role === 'assistant'
      ? { type: 'TEXT_MESSAGE_CHUNK', messageId: message.id, delta }
      : { type: 'REASONING_MESSAGE_CHUNK', messageId: message.id, delta }
  }

  /** Adds any other part. */
  add(part: Exclude<ModelPart, DeltaPart>): AgentEvent[] {
    switch (part.type) {
      case 'text-end':
        return this.#endMessage('assistant', part)
      case 'reasoning-end':
        return this.#endMessage('reasoning', part)
      case 'tool-call-start':
        return this.#startCall(part.toolCallId, part.toolName)
      case 'tool-call-delta':
        return this.#addArguments(part.toolCallId, part.delta)
      case 'tool-call-end':
        return this.#endCall(part.toolCallId, part)
      case 'finish':
        this.finishReason = part.reason
        this.usage = part.usage
        return []
    }
  }

  /** Ends what is still being written, when the answer is complete or broke off. */
  end(): AgentEvent[] {
    const ended = this.#current ? this.#endMessage(this.#current.role) : []
    return [...ended, ...[...this.#writing.keys()].flatMap((id) => this.#endCall(id))]
  }

  /** Marks all messages as rejected, and adds a result to every call, so that nobody executes it. */
  reject(reason: string): AgentEvent[] {
    const messages = this.messages.flatMap((message) => rejectMessage(message, reason))
    const results = this.toolCalls.map(({ id: toolCallId }): AgentEvent => ({
      type: 'TOOL_CALL_RESULT',
      messageId: this.#options.newId('message'),
      toolCallId,
      content: rejectedCallContent,
      metadata: rejectedMark(reason),
    }))
    return [...messages, ...results]
  }

  #begin(role: 'assistant' | 'reasoning'): AssistantMessage | ReasoningMessage {
    const id = this.#options.newId(role === 'assistant' ? 'message' : 'reasoning')
    const message: AssistantMessage | ReasoningMessage = { id, role, content: '' }
    this.messages.push(message)
    this.#current = message
    // Providers want signed reasoning back right before the calls it led to: these calls begin a new message.
    this.#parent = message.role === 'assistant' ? message : undefined
    return message
  }

  #endMessage(role: 'assistant' | 'reasoning', part: Encrypted = {}): AgentEvent[] {
    const { encryptedValue } = part
    const events: AgentEvent[] = []
    let message = this.#current?.role === role ? this.#current : undefined
    if (message)
      events.push({
        type: role === 'assistant' ? 'TEXT_MESSAGE_END' : 'REASONING_MESSAGE_END',
        messageId: message.id,
      })
    else if (encryptedValue === undefined) return []
    else {
      // The provider may send only encrypted reasoning.
      message = this.#begin(role)
      if (role === 'assistant') events.push({ type: 'TEXT_MESSAGE_CHUNK', messageId: message.id })
    }
    this.#current = undefined
    if (encryptedValue === undefined) return events
    const value = { encryptedValue, ...valueType(part) }
    Object.assign(message, value)
    const entityId = message.id
    return [...events, { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId, ...value }]
  }

  #startCall(modelId: string, name: string): AgentEvent[] {
    const ended = this.#writing.has(modelId) ? this.#endCall(modelId) : []
    this.#current = undefined
    const parent = (this.#parent ??= this.#beginParent())
    const id = this.#options.callId(modelId)
    const call: ToolCall = { id, type: 'function', function: { name, arguments: '' } }
    ;(parent.toolCalls ??= []).push(call)
    this.toolCalls.push(call)
    this.#writing.set(modelId, call)
    const parentMessageId = parent.id
    return [...ended, { type: 'TOOL_CALL_START', toolCallId: id, toolCallName: name, parentMessageId }]
  }

  #beginParent(): AssistantMessage {
    const parent: AssistantMessage = { id: this.#options.newId('message'), role: 'assistant' }
    this.messages.push(parent)
    return parent
  }

  #addArguments(modelId: string, delta: string): AgentEvent[] {
    const call = this.#writing.get(modelId)
    if (!call || delta === '') return []
    call.function.arguments += delta
    return [{ type: 'TOOL_CALL_ARGS', toolCallId: call.id, delta }]
  }

  #endCall(modelId: string, part: Encrypted = {}): AgentEvent[] {
    const { encryptedValue } = part
    const call = this.#writing.get(modelId)
    if (!call) return []
    this.#writing.delete(modelId)
    const ended: AgentEvent = { type: 'TOOL_CALL_END', toolCallId: call.id }
    if (encryptedValue === undefined) return [ended]
    const value = { encryptedValue, ...valueType(part) }
    Object.assign(call, value)
    const entityId = call.id
    return [ended, { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'tool-call', entityId, ...value }]
  }
}

type Encrypted = Pick<Extract<ModelPart, { type: 'text-end' }>, 'encryptedValue' | 'encryptedValueType'>

function valueType({ encryptedValueType }: Encrypted): EncryptedValueType {
  return encryptedValueType === undefined ? {} : { encryptedValueType }
}
