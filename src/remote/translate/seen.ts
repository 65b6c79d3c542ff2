import type { Message } from '@ag-ui/core'
import type { AgUiEvent } from '../../protocol/index.js'

/** What is known of a run's messages, by its events and by what it was started with. */
export interface Seen {
  note(event: AgUiEvent): void
  /** Whether the run was started with this message. */
  wasSent(messageId: string): boolean
  hasMessage(messageId: string): boolean
  /** The message of this run that has exactly this text. */
  messageWith(text: string): string | undefined
  hasCall(toolCallId: string): boolean
  hasResult(toolCallId: string): boolean
  /** The calls of this run without a result, in order. */
  openCalls(): string[]
}

export function createSeen(sent: readonly Message[]): Seen {
  return new SeenMessages(sent)
}

class SeenMessages implements Seen {
  readonly #sent: ReadonlySet<string>
  readonly #sentCalls = new Set<string>()
  readonly #results = new Set<string>()
  readonly #others = new Set<string>()
  readonly #calls = new Set<string>()
  readonly #texts = new Map<string, string>()
  #latest = ''

  constructor(sent: readonly Message[]) {
    this.#sent = new Set(sent.map(({ id }) => id))
    for (const message of sent) {
      if (message.role === 'tool') this.#results.add(message.toolCallId)
      if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) this.#sentCalls.add(id)
    }
  }

  note(event: AgUiEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
      case 'REASONING_MESSAGE_START':
        return this.#add(event.messageId, '')
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
      case 'TEXT_MESSAGE_CHUNK':
      case 'REASONING_MESSAGE_CHUNK':
        return this.#add(event.messageId, event.delta ?? '')
      case 'TOOL_CALL_START':
      case 'TOOL_CALL_CHUNK':
        if (event.toolCallId === undefined) return
        this.#calls.add(event.toolCallId)
        this.#others.add(event.parentMessageId ?? event.toolCallId)
        return
      case 'TOOL_CALL_RESULT':
        this.#results.add(event.toolCallId)
        this.#others.add(event.messageId)
        return
      case 'ACTIVITY_SNAPSHOT':
        this.#others.add(event.messageId)
        return
      default:
        return
    }
  }

  wasSent(messageId: string): boolean {
    return this.#sent.has(messageId)
  }

  hasMessage(messageId: string): boolean {
    return this.#texts.has(messageId) || this.#others.has(messageId) || this.#sent.has(messageId)
  }

  messageWith(text: string): string | undefined {
    for (const [id, said] of this.#texts) if (said === text) return id
    return undefined
  }

  hasCall(toolCallId: string): boolean {
    return this.#calls.has(toolCallId) || this.#sentCalls.has(toolCallId)
  }

  hasResult(toolCallId: string): boolean {
    return this.#results.has(toolCallId)
  }

  openCalls(): string[] {
    return [...this.#calls].filter((id) => !this.#results.has(id))
  }

  /** A piece without an id goes on with the latest message. */
  #add(messageId: string | undefined, delta: string): void {
    const id = messageId ?? this.#latest
    this.#latest = id
    this.#texts.set(id, (this.#texts.get(id) ?? '') + delta)
  }
}
