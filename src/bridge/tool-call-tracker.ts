import type { Message, Metadata } from '@ag-ui/core'
import type { EventOf } from '../protocol/index.js'
import type { EventSink } from './event-sink.js'
import { spanTag } from './spans.js'

export interface ToolCallTrackerOptions {
  readonly sink: EventSink
  /** The messages that clients hold: their calls are known, and those with results have them. */
  readonly messages?: readonly Message[]
}

/** A tool call about to be shown. */
export interface NewToolCall {
  readonly id: string
  /** The name that clients know the tool by. */
  readonly name: string
  /** The message it stands in. Without one, the client makes a message of the call's id. */
  readonly parentMessageId?: string | undefined
  readonly subagentRunId?: string | undefined
  /** The client executes it: it stays pending until it has a result. */
  readonly isPending?: boolean
}

export interface ToolCallResult {
  readonly toolCallId: string
  /** The id of the tool message. */
  readonly messageId: string
  readonly content: EventOf<'TOOL_CALL_RESULT'>['content']
  readonly metadata?: Metadata | undefined
  readonly subagentRunId?: string | undefined
}

/** Knows the tool calls of one run and their results, and writes each once, even if it is reported twice. */
export class ToolCallTracker {
  readonly #sink: EventSink
  readonly #known = new Set<string>()
  readonly #answered = new Set<string>()
  readonly #pending = new Set<string>()
  /** The ids that clients know, by later ids of the provider. */
  readonly #aliases = new Map<string, string>()

  constructor({ sink, messages = [] }: ToolCallTrackerOptions) {
    this.#sink = sink
    for (const message of messages) {
      if (message.role === 'tool') this.#answered.add(message.toolCallId)
      if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) this.#known.add(id)
    }
  }

  /** The calls left to the client, in order. */
  get pendingIds(): readonly string[] {
    return [...this.#pending]
  }

  /** Whether clients have the call. */
  has(id: string): boolean {
    return this.#known.has(this.knownAs(id))
  }

  hasResult(id: string): boolean {
    return this.#answered.has(this.knownAs(id))
  }

  /** Whether clients have the call without a result. */
  isOpen(id: string): boolean {
    return this.has(id) && !this.hasResult(id)
  }

  isPending(id: string): boolean {
    return this.#pending.has(this.knownAs(id))
  }

  /** The id that clients have for a call. */
  knownAs(id: string): string {
    return this.#aliases.get(id) ?? id
  }

  /** Notes a call that clients have. */
  addKnown(id: string): void {
    this.#known.add(id)
  }

  /** Leaves a call to the client, unless it has a result. */
  addPending(id: string): void {
    if (!this.#answered.has(id)) this.#pending.add(id)
  }

  /** Notes a call whose result clients have. */
  addAnswered(id: string): void {
    this.#answered.add(id)
  }

  /** Makes `id` an alias of a call that was written under another id. */
  addAlias(id: string, knownAs: string): void {
    this.#aliases.set(id, knownAs)
  }

  /** Begins a call. Returns false, and writes nothing, if clients have it. */
  start({ id, name, parentMessageId, subagentRunId, isPending = false }: NewToolCall): boolean {
    if (this.has(id)) return false
    this.#known.add(id)
    if (isPending) this.addPending(id)
    this.#sink.add({
      type: 'TOOL_CALL_START',
      toolCallId: id,
      toolCallName: name,
      ...(parentMessageId === undefined ? {} : { parentMessageId }),
      ...spanTag(subagentRunId),
    })
    return true
  }

  /** Writes a delta of the arguments: one literal event, nothing spread. */
  args(toolCallId: string, delta: string, subagentRunId: string | undefined): void {
    this.#sink.add(
      subagentRunId === undefined
        ? { type: 'TOOL_CALL_ARGS', toolCallId, delta }
        : { type: 'TOOL_CALL_ARGS', toolCallId, delta, subagentRunId },
    )
  }

  /** Ends the arguments of a call. */
  end(toolCallId: string, subagentRunId: string | undefined): void {
    this.#sink.add({ type: 'TOOL_CALL_END', toolCallId, ...spanTag(subagentRunId) })
  }

  /** Writes a whole call. Returns false, and writes nothing, if clients have it. */
  write(call: NewToolCall, args: string): boolean {
    if (!this.start(call)) return false
    this.args(call.id, args, call.subagentRunId)
    this.end(call.id, call.subagentRunId)
    return true
  }

  /** Sends the provider's encrypted value for a call. */
  sendEncryptedValue(toolCallId: string, encryptedValue: string, subagentRunId: string | undefined): void {
    this.#sink.add({
      type: 'REASONING_ENCRYPTED_VALUE',
      subtype: 'tool-call',
      entityId: toolCallId,
      encryptedValue,
      ...spanTag(subagentRunId),
    })
  }

  /** Writes a result. Returns false, and writes nothing, if the call is not open: it may begin later. */
  result({ toolCallId: id, messageId, content, metadata, subagentRunId }: ToolCallResult): boolean {
    const toolCallId = this.knownAs(id)
    if (!this.isOpen(toolCallId)) return false
    this.#answered.add(toolCallId)
    this.#pending.delete(toolCallId)
    this.#sink.add({
      type: 'TOOL_CALL_RESULT',
      messageId,
      toolCallId,
      content,
      ...(metadata === undefined ? {} : { metadata }),
      ...spanTag(subagentRunId),
    })
    return true
  }

  /** Removes a call that broke off from the pending ones: nobody may execute it. */
  abandon(id: string): void {
    this.#pending.delete(id)
  }
}
