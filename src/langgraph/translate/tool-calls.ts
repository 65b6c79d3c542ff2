import type { ContentPart, Message, Metadata } from '@ag-ui/core'
import type { EventSink } from '../../agents/index.js'
import { tagged } from './tagged.js'
import type { TranslatorOptions } from './translator.js'

export interface PendingCall {
  readonly id: string
  readonly name: string
}

/** A call that is about to be told. */
export interface NewCall extends PendingCall {
  /** The message it stands in. */
  readonly parentMessageId: string | undefined
  readonly span: string | undefined
}

export interface CallResult {
  readonly toolCallId: string
  readonly content: string | ContentPart[]
  readonly metadata?: Metadata | undefined
  readonly span: string | undefined
}

export interface ToolCallsOptions extends Pick<TranslatorOptions, 'isClientTool' | 'messages'> {
  readonly sink: EventSink
}

/** The calls of one run and their results, each told once, whoever tells of it first. */
export class ToolCalls {
  readonly #sink: EventSink
  readonly #isClientTool: (name: string) => boolean
  readonly #known = new Set<string>()
  readonly #answered = new Set<string>()
  readonly #pending = new Map<string, PendingCall>()
  /** The ids that calls were told under, by those that the provider gave them later. */
  readonly #aliases = new Map<string, string>()

  constructor({ sink, isClientTool, messages }: ToolCallsOptions) {
    this.#sink = sink
    this.#isClientTool = isClientTool
    for (const message of messages) this.#noteHeld(message)
  }

  get pending(): readonly PendingCall[] {
    return [...this.#pending.values()]
  }

  isKnown(id: string): boolean {
    return this.#known.has(id) || this.#aliases.has(id)
  }

  /** Whether it was told and has no result. */
  isOpen(id: string): boolean {
    const toldAs = this.#aliases.get(id) ?? id
    return this.#known.has(toldAs) && !this.#answered.has(toldAs)
  }

  /** Notes a call, or its result, that clients have. */
  noteCall(id: string): void {
    this.#known.add(id)
  }

  noteResult(id: string): void {
    this.#answered.add(id)
  }

  alias(id: string, toldAs: string): void {
    this.#aliases.set(id, toldAs)
  }

  /** Begins a call. False when it was told before. */
  start({ id, name, parentMessageId, span }: NewCall): boolean {
    if (this.isKnown(id)) return false
    this.#known.add(id)
    if (this.#isClientTool(name) && !this.#answered.has(id)) this.#pending.set(id, { id, name })
    this.#sink.add({
      type: 'TOOL_CALL_START',
      toolCallId: id,
      toolCallName: name,
      ...(parentMessageId === undefined ? {} : { parentMessageId }),
      ...tagged(span),
    })
    return true
  }

  /** The one event per piece of arguments. */
  args(toolCallId: string, delta: string, span: string | undefined): void {
    this.#sink.add(
      span === undefined
        ? { type: 'TOOL_CALL_ARGS', toolCallId, delta }
        : { type: 'TOOL_CALL_ARGS', toolCallId, delta, subagentRunId: span },
    )
  }

  end(toolCallId: string, span: string | undefined): void {
    this.#sink.add({ type: 'TOOL_CALL_END', toolCallId, ...tagged(span) })
  }

  /** A call that is there all at once. */
  whole(call: NewCall, args: string): void {
    if (!this.start(call)) return
    this.args(call.id, args, call.span)
    this.end(call.id, call.span)
  }

  /** A call that broke off while it was written: nobody is going to run it. */
  giveUp(id: string): void {
    this.#pending.delete(id)
  }

  /** A result of a call that clients know. For others it is kept back: what they answer may still come. */
  result({ toolCallId: id, content, metadata, span }: CallResult): void {
    const toolCallId = this.#aliases.get(id) ?? id
    if (!this.isOpen(toolCallId)) return
    this.#answered.add(toolCallId)
    this.#pending.delete(toolCallId)
    this.#sink.add({
      type: 'TOOL_CALL_RESULT',
      messageId: `${toolCallId}:result`,
      toolCallId,
      content,
      ...(metadata === undefined ? {} : { metadata }),
      ...tagged(span),
    })
  }

  #noteHeld(message: Message): void {
    if (message.role === 'tool') this.noteResult(message.toolCallId)
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) this.noteCall(id)
  }
}
