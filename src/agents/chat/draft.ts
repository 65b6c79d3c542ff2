import type { AssistantMessage, Message, ReasoningMessage, TokenUsage, ToolCall } from '@ag-ui/core'
import type { FinishReason, ModelPart } from '../../models/index.js'
import type { AgentEvent } from '../../protocol/index.js'

/** A tool call the model made. */
export interface CallRequest {
  readonly id: string
  readonly name: string
  /** JSON text, as the model wrote it. */
  readonly args: string
}

/** One answer of a model, while it comes in and when it is whole. */
export interface Draft {
  /** The messages it makes, in order: reasoning and text blocks, tool calls in the last assistant message. */
  readonly messages: readonly Message[]
  readonly calls: readonly CallRequest[]
  readonly text: string
  readonly finishReason: FinishReason
  readonly usage: TokenUsage | undefined
  /** Takes the next part and gives the events that tell of it. */
  take(part: ModelPart): AgentEvent[]
  /** Ends what is still open, when the answer is over or broke off. */
  close(): AgentEvent[]
}

export interface DraftOptions {
  readonly newId: (prefix: string) => string
  /** Whether a tool call id is in use already: some providers count from one in every answer. */
  readonly isUsed: (toolCallId: string) => boolean
}

type Block = { readonly kind: 'text' | 'reasoning'; readonly message: AssistantMessage | ReasoningMessage }

/** A plain class for once: its state is the answer so far, and every part changes it. */
export class AnswerDraft implements Draft {
  readonly messages: Message[] = []
  finishReason: FinishReason = 'other'
  usage: TokenUsage | undefined
  readonly #options: DraftOptions
  #block: Block | undefined
  /** The assistant message that holds the tool calls. */
  #holder: AssistantMessage | undefined
  /** By the id the model uses. */
  readonly #calls = new Map<string, { readonly call: ToolCall; isOpen: boolean }>()

  constructor(options: DraftOptions) {
    this.#options = options
  }

  get calls(): CallRequest[] {
    return [...this.#calls.values()].map(({ call }) => ({
      id: call.id,
      name: call.function.name,
      args: call.function.arguments,
    }))
  }

  get text(): string {
    return this.messages
      .map((message) => (message.role === 'assistant' ? (message.content ?? '') : ''))
      .join('')
  }

  take(part: ModelPart): AgentEvent[] {
    switch (part.type) {
      case 'text-delta':
        return this.#delta('text', part.delta)
      case 'reasoning-delta':
        return this.#delta('reasoning', part.delta)
      case 'text-end':
        return this.#endBlock('text', part.encryptedValue)
      case 'reasoning-end':
        return this.#endBlock('reasoning', part.encryptedValue)
      case 'tool-call-start':
        return this.#startCall(part.toolCallId, part.toolName)
      case 'tool-call-delta':
        return this.#callDelta(part.toolCallId, part.delta)
      case 'tool-call-end':
        return this.#endCall(part.toolCallId, part.encryptedValue)
      case 'finish':
        this.finishReason = part.reason
        this.usage = part.usage
        return []
    }
  }

  close(): AgentEvent[] {
    const events = this.#block ? this.#endBlock(this.#block.kind) : []
    for (const [id, { isOpen }] of this.#calls) if (isOpen) events.push(...this.#endCall(id))
    return events
  }

  #delta(kind: Block['kind'], delta: string): AgentEvent[] {
    const events: AgentEvent[] = []
    if (this.#block?.kind !== kind) events.push(...this.#openBlock(kind))
    const message = this.#block?.message
    if (!message || delta === '') return events
    message.content = (message.content ?? '') + delta
    const type = kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT'
    events.push({ type, messageId: message.id, delta })
    return events
  }

  #openBlock(kind: Block['kind']): AgentEvent[] {
    const events = this.#block ? this.#endBlock(this.#block.kind) : []
    const id = this.#options.newId(kind === 'text' ? 'message' : 'reasoning')
    if (kind === 'text') {
      const message: AssistantMessage = { id, role: 'assistant', content: '' }
      this.#open({ kind, message })
      this.#holder = message
      events.push({ type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' })
    } else {
      this.#open({ kind, message: { id, role: 'reasoning', content: '' } })
      events.push({ type: 'REASONING_MESSAGE_START', messageId: id, role: 'reasoning' })
    }
    return events
  }

  #open(block: Block): void {
    this.#block = block
    this.messages.push(block.message)
  }

  #endBlock(kind: Block['kind'], encryptedValue?: string): AgentEvent[] {
    const events: AgentEvent[] = []
    // Reasoning may be told encrypted only, without a word before.
    if (this.#block?.kind !== kind) {
      if (encryptedValue === undefined) return []
      events.push(...this.#openBlock(kind))
    }
    const message = this.#block?.message
    this.#block = undefined
    if (!message) return events
    const type = kind === 'text' ? 'TEXT_MESSAGE_END' : 'REASONING_MESSAGE_END'
    events.push({ type, messageId: message.id })
    if (encryptedValue !== undefined) {
      message.encryptedValue = encryptedValue
      events.push({
        type: 'REASONING_ENCRYPTED_VALUE',
        subtype: 'message',
        entityId: message.id,
        encryptedValue,
      })
    }
    return events
  }

  #startCall(modelId: string, name: string): AgentEvent[] {
    const events = this.#block ? this.#endBlock(this.#block.kind) : []
    const holder = (this.#holder ??= this.#newHolder())
    const id = this.#options.isUsed(modelId) ? this.#options.newId('call') : modelId
    const call: ToolCall = { id, type: 'function', function: { name, arguments: '' } }
    ;(holder.toolCalls ??= []).push(call)
    this.#calls.set(modelId, { call, isOpen: true })
    events.push({ type: 'TOOL_CALL_START', toolCallId: id, toolCallName: name, parentMessageId: holder.id })
    return events
  }

  #newHolder(): AssistantMessage {
    const holder: AssistantMessage = { id: this.#options.newId('message'), role: 'assistant' }
    this.messages.push(holder)
    return holder
  }

  #callDelta(modelId: string, delta: string): AgentEvent[] {
    const call = this.#calls.get(modelId)?.call
    if (!call || delta === '') return []
    call.function.arguments += delta
    return [{ type: 'TOOL_CALL_ARGS', toolCallId: call.id, delta }]
  }

  #endCall(modelId: string, encryptedValue?: string): AgentEvent[] {
    const entry = this.#calls.get(modelId)
    if (!entry?.isOpen) return []
    entry.isOpen = false
    const { call } = entry
    const events: AgentEvent[] = [{ type: 'TOOL_CALL_END', toolCallId: call.id }]
    if (encryptedValue !== undefined) {
      call.encryptedValue = encryptedValue
      events.push({
        type: 'REASONING_ENCRYPTED_VALUE',
        subtype: 'tool-call',
        entityId: call.id,
        encryptedValue,
      })
    }
    return events
  }
}
