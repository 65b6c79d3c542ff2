import type { AIMessageChunk, BaseMessage } from '@langchain/core/messages'
import type { EventSink } from '../../bridge/event-sink.js'
import { MessageWriter } from '../../bridge/message-writer.js'
import { spanTag } from '../../bridge/spans.js'
import { isRecord } from '../../core/is-record.js'
import { blockText, toMediaPart, type MediaPart } from '../messages/content.js'
import { signaturesKey } from '../messages/tool-calls.js'
import type { GraphTranslatorOptions } from './graph-translator.js'
import { blockReasoning, kwargsReasoning, ReasoningWriter } from './reasoning.js'
import { ToolCallAssembler, type GraphToolCalls, type WholeToolCall } from './tool-calls.js'

export interface ModelMessageOptions extends Pick<GraphTranslatorOptions, 'newId' | 'report'> {
  readonly sink: EventSink
  readonly calls: GraphToolCalls
  readonly subagentRunId: string | undefined
  /** The id for a message that has none. */
  readonly fallbackId: string
}

/** What clients have of a message that broke off. */
export interface BrokenMessage {
  readonly subagentRunId: string | undefined
  readonly messageId: string | undefined
  readonly reasoningIds: readonly string[]
  readonly toolCallIds: readonly string[]
}

/** The kinds of content to write. */
interface Wanted {
  readonly text: boolean
  readonly reasoning: boolean
  readonly media: boolean
}

const noBlocks: readonly unknown[] = []

const everything: Wanted = { text: true, reasoning: true, media: true }

/**
 * Writes one message of one model: text, reasoning and tool calls. It shares nothing with other messages, so messages
 * that are written at the same time stay apart.
 */
export class ModelMessage {
  readonly #options: ModelMessageOptions
  readonly #writer: MessageWriter
  readonly #reasoning: ReasoningWriter
  #calls: ToolCallAssembler | undefined
  /** Taken from the first chunk. The message has the same id in the graph's state. */
  #messageId: string | undefined
  #hasText = false
  #hasMedia = false
  #hasSignatures = false

  constructor(options: ModelMessageOptions) {
    this.#options = options
    this.#writer = new MessageWriter(options)
    this.#reasoning = new ReasoningWriter(this.#writer)
  }

  get messageId(): string | undefined {
    return this.#messageId
  }

  /** Writes a chunk. The path of every token. */
  write(message: AIMessageChunk): void {
    this.#messageId ??= message.id ?? this.#options.fallbackId
    this.#writeContent(message)
    const chunks = message.tool_call_chunks
    if (chunks !== undefined && chunks.length > 0) {
      const calls = this.#startCalls()
      for (const chunk of chunks) calls.write(chunk)
    }
    this.#writeSignatures(message.additional_kwargs)
  }

  /** Writes the parts of the whole message that did not come in chunks, and ends it. */
  complete(message: BaseMessage | undefined): void {
    if (message) {
      this.#messageId ??= message.id ?? this.#options.fallbackId
      const reasoning = this.#reasoning.ids.length === 0
      this.#writeContent(message, { text: !this.#hasText, reasoning, media: !this.#hasMedia })
      const { tool_calls: whole = [] } = message as { tool_calls?: readonly WholeToolCall[] }
      if (whole.length > 0) this.#startCalls().writeMissing(whole)
    }
    this.#writer.end()
    this.#calls?.end()
    if (message && !this.#hasSignatures) this.#writeSignatures(message.additional_kwargs)
  }

  /** Ends the message because its model failed. */
  breakOff(): BrokenMessage {
    this.#writer.end()
    return {
      subagentRunId: this.#options.subagentRunId,
      messageId: this.#hasText ? this.#messageId : undefined,
      reasoningIds: this.#reasoning.ids,
      toolCallIds: this.#calls?.abandon() ?? [],
    }
  }

  #writeContent({ content, additional_kwargs: kwargs }: BaseMessage, wanted: Wanted = everything): void {
    const blocks: readonly unknown[] = Array.isArray(content) ? content : noBlocks
    if (wanted.reasoning && (kwargs.reasoning_content !== undefined || kwargs.reasoning !== undefined))
      this.#writeKwargsReasoning(kwargs, blocks.some(hasReasoningText))
    if (typeof content === 'string') {
      if (content !== '' && wanted.text) this.#writeText(content)
      return
    }
    for (const block of blocks) {
      const text = blockText(block)
      if (text === undefined) this.#writeBlock(block, wanted)
      else if (text !== '' && wanted.text) this.#writeText(text)
    }
  }

  #writeText(delta: string): void {
    if (this.#writer.kind !== 'text') {
      this.#hasText = true
      this.#writer.begin('text', this.#messageId)
    }
    this.#writer.write(delta)
  }

  #writeBlock(block: unknown, { reasoning, media }: Wanted): void {
    const part = media ? toMediaPart(block) : undefined
    if (part) this.#writeMedia(part)
    else if (reasoning)
      for (const chunk of blockReasoning(block)) this.#reasoning.write(chunk, this.#messageId ?? '')
  }

  /** Assistant messages of AG-UI have text only, so media are sent as custom events. */
  #writeMedia(part: MediaPart): void {
    this.#hasMedia = true
    const { sink, subagentRunId } = this.#options
    const value = { messageId: this.#messageId ?? '', part }
    sink.add({ type: 'CUSTOM', name: 'langgraph.media', value, ...spanTag(subagentRunId) })
  }

  /** Some providers send the same reasoning in a block and beside the content: the block counts. */
  #writeKwargsReasoning(kwargs: Readonly<Record<string, unknown>>, isInBlocks: boolean): void {
    for (const chunk of kwargsReasoning(kwargs))
      this.#reasoning.write(isInBlocks ? { ...chunk, text: undefined } : chunk, this.#messageId ?? '')
  }

  #startCalls(): ToolCallAssembler {
    this.#reasoning.end()
    const messageId = this.#messageId ?? ''
    return (this.#calls ??= new ToolCallAssembler({ ...this.#options, messageId }))
  }

  #writeSignatures(kwargs: Readonly<Record<string, unknown>>): void {
    const signatures = kwargs[signaturesKey]
    if (!isRecord(signatures)) return
    const { calls, subagentRunId } = this.#options
    for (const [toolCallId, signature] of Object.entries(signatures)) {
      if (typeof signature !== 'string' || !calls.has(toolCallId)) continue
      this.#hasSignatures = true
      calls.sendEncryptedValue(toolCallId, signature, subagentRunId)
    }
  }
}

function hasReasoningText(block: unknown): boolean {
  return blockReasoning(block).some(({ text }) => text !== undefined)
}
