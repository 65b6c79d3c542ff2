import type { AIMessageChunk, BaseMessage } from '@langchain/core/messages'
import type { EventSink } from '../../bridge/event-sink.js'
import type { PredictStateMapping } from '../../agents/index.js'
import { MessageWriter } from '../../bridge/message-writer.js'
import { spanTag } from '../../bridge/spans.js'
import { isRecord } from '../../core/json.js'
import { blockText, blockToMediaPart, type GraphMediaPart } from '../messages/content.js'
import {
  readReasoningBlock,
  readReasoningKwargs,
  reasoningId,
  type ReasoningChunk,
} from '../messages/reasoning.js'
import { signaturesKey } from '../messages/tool-calls.js'
import type { GraphTranslatorOptions } from './graph-translator.js'
import { ToolCallAssembler, type WholeToolCall } from './tool-call-assembler.js'
import type { GraphToolCalls } from './tool-calls.js'

export interface ModelMessageOptions extends Pick<GraphTranslatorOptions, 'newId' | 'report'> {
  readonly sink: EventSink
  readonly calls: GraphToolCalls
  readonly subagentRunId: string | undefined
  /** The id for a message that has none. */
  readonly fallbackId: string
  /** Tool arguments that clients may show as state. */
  readonly predictState?: readonly PredictStateMapping[]
}

/** The parts of a broken-off message that clients have. */
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
 * Writes one message of one model: text, reasoning and tool calls. It shares no state with others, so messages
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

  /** Leaves the message as it is because its model failed. */
  breakOff(): BrokenMessage {
    this.#writer.breakOff()
    const toolCallIds = this.#calls?.abandon() ?? []
    return {
      subagentRunId: this.#options.subagentRunId,
      messageId: this.#hasText || toolCallIds.length > 0 ? this.#messageId : undefined,
      reasoningIds: this.#reasoning.ids,
      toolCallIds,
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
    const part = media ? blockToMediaPart(block) : undefined
    if (part) this.#writeMedia(part)
    else if (reasoning)
      for (const chunk of readReasoningBlock(block)) this.#reasoning.write(chunk, this.#messageId ?? '')
  }

  /** Assistant messages of AG-UI have text only, so media are sent as custom events. */
  #writeMedia(part: GraphMediaPart): void {
    this.#hasMedia = true
    const { sink, subagentRunId } = this.#options
    const value = { messageId: this.#messageId ?? '', part }
    sink.add({ type: 'CUSTOM', name: 'langgraph.media', value, ...spanTag(subagentRunId) })
  }

  /** Some providers send the same reasoning in a block and beside the content: the block counts. */
  #writeKwargsReasoning(kwargs: Readonly<Record<string, unknown>>, isInBlocks: boolean): void {
    for (const chunk of readReasoningKwargs(kwargs))
      this.#reasoning.write(isInBlocks ? { ...chunk, text: undefined } : chunk, this.#messageId ?? '')
  }

  #startCalls(): ToolCallAssembler {
    this.#writer.end()
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
  return readReasoningBlock(block).some(({ text }) => text !== undefined)
}

/** Writes the reasoning of one model message: an AG-UI message for each block. */
class ReasoningWriter {
  readonly #writer: MessageWriter
  /** The number of messages without an id of the provider. */
  #unnamed = 0
  /** The provider's id of the next message. */
  #nextId: string | undefined
  #latestId: string | undefined
  #block: ReasoningChunk['block']
  #paragraph: number | undefined
  /** The signature so far of the message being written. */
  #signature = ''
  /** The messages written. */
  readonly ids: string[] = []

  constructor(writer: MessageWriter) {
    this.#writer = writer
  }

  write(chunk: ReasoningChunk, messageId: string): void {
    const { id, text, signature, block, paragraph, isRedacted = false } = chunk
    if (isRedacted || (block !== undefined && this.#block !== undefined && block !== this.#block)) {
      this.end()
      this.#latestId = undefined
    }
    this.#block = block ?? this.#block
    if (id !== undefined && !(this.#isOpen && id === this.#latestId)) {
      this.end()
      this.#nextId = id
    }
    if (text !== undefined && text !== '') this.#writeText(text, paragraph, messageId)
    if (signature !== undefined) this.#writeSignature(signature, messageId)
    if (isRedacted) this.#latestId = undefined
  }

  /** Ends the message being written, if any. */
  end(): void {
    if (this.#isOpen) this.#writer.end()
  }

  get #isOpen(): boolean {
    return this.#writer.kind === 'reasoning'
  }

  #writeText(text: string, paragraph: number | undefined, messageId: string): void {
    const isNext = this.#isOpen && this.#paragraph !== undefined && paragraph !== this.#paragraph
    this.#paragraph = paragraph
    if (!this.#isOpen) {
      this.#signature = ''
      this.#writer.begin('reasoning', this.#newId(messageId))
    }
    this.#writer.write(isNext && paragraph !== undefined ? `\n\n${text}` : text)
  }

  #writeSignature(signature: string, messageId: string): void {
    if (this.#isOpen) {
      this.#signature += signature
      this.#writer.sendEncryptedValue(this.#signature)
      return
    }
    const latestId = this.#nextId === undefined ? this.#latestId : undefined
    this.#writer.sendEncryptedValue(signature, latestId ?? this.#newId(messageId))
  }

  #newId(messageId: string): string {
    const id = this.#nextId ?? reasoningId(messageId, this.#unnamed++)
    this.#nextId = undefined
    this.#latestId = id
    if (!this.ids.includes(id)) this.ids.push(id)
    return id
  }
}
