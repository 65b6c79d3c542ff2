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
  /** Gives a call an id of its own: some providers count from one in every answer. */
  readonly callId: (wanted: string) => string
}

interface OpenableCall {
  readonly call: ToolCall
  isOpen: boolean
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
  readonly #calls: OpenableCall[] = []
  /** The newest call of each id the model uses. */
  readonly #callOf = new Map<string, OpenableCall>()

  constructor(options: DraftOptions) {
    this.#options = options
  }

  get calls(): CallRequest[] {
    return this.#calls.map(({ call: { id, function: called } }) => {
      return { id, name: called.name, args: called.arguments }
    })
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
        return this.#endCall(this.#callOf.get(part.toolCallId), part.encryptedValue)
      case 'finish':
        this.finishReason = part.reason
        this.usage = part.usage
        return []
    }
  }

  close(): AgentEvent[] {
    const events = this.#block ? this.#endBlock(this.#block.kind) : []
    for (const entry of this.#calls) events.push(...this.#endCall(entry))
    return events
  }

  #delta(kind: Block['kind'], delta: string): AgentEvent[] {
    // Some models begin with nothing: that is no message yet.
    if (delta === '') return []
    const events: AgentEvent[] = []
    if (this.#block?.kind !== kind) events.push(...this.#openBlock(kind))
    const message = this.#block?.message
    if (!message) return events
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
      // Signed reasoning goes back to a provider right before the calls it led to.
      this.#holder = undefined
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
    const id = this.#options.callId(modelId)
    const call: ToolCall = { id, type: 'function', function: { name, arguments: '' } }
    const entry = { call, isOpen: true }
    ;(holder.toolCalls ??= []).push(call)
    this.#calls.push(entry)
    this.#callOf.set(modelId, entry)
    events.push({ type: 'TOOL_CALL_START', toolCallId: id, toolCallName: name, parentMessageId: holder.id })
    return events
  }

  #newHolder(): AssistantMessage {
    const holder: AssistantMessage = { id: this.#options.newId('message'), role: 'assistant' }
    this.messages.push(holder)
    return holder
  }

  #callDelta(modelId: string, delta: string): AgentEvent[] {
    const call = this.#callOf.get(modelId)?.call
    if (!call || delta === '') return []
    call.function.arguments += delta
    return [{ type: 'TOOL_CALL_ARGS', toolCallId: call.id, delta }]
  }

  #endCall(entry: OpenableCall | undefined, encryptedValue?: string): AgentEvent[] {
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
