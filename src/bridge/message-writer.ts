import type { IdSource } from '../core/ids.js'
import type { EventSink } from './event-sink.js'
import { spanTag } from './spans.js'

export type MessageKind = 'text' | 'reasoning'

export interface MessageWriterOptions {
  readonly sink: EventSink
  readonly newId: IdSource
  /** The span that the messages belong to. Undefined for the run's own agent. */
  readonly subagentRunId?: string | undefined
  /** The `name` of text messages. */
  readonly name?: string | undefined
}

/**
 * Writes the text and reasoning of one lane, one message at a time: a start, chunks, an end. Chooses the ids
 * of messages, or takes the runtime's. Opening, closing and ordering belong to the run stream.
 *
 * @example
 * if (writer.kind !== 'text') writer.begin('text')
 * writer.write('Hello')
 * writer.end()
 */
export class MessageWriter {
  /** The kind of the message being written. */
  kind: MessageKind | undefined
  /** The id of the message being written. */
  messageId: string | undefined
  /** The span that the messages belong to. A lane may enter another one. */
  subagentRunId: string | undefined
  /** The text message that the next tool call belongs to. Undefined when the call begins a message of its own. */
  parentMessageId: string | undefined
  readonly #options: MessageWriterOptions
  #hasWritten = false

  constructor(options: MessageWriterOptions) {
    this.#options = options
    this.subagentRunId = options.subagentRunId
  }

  /** Begins a new message, or continues the one with this id. Ends the message before it. */
  begin(kind: MessageKind, messageId = this.newId(kind)): string {
    this.end()
    this.kind = kind
    this.messageId = messageId
    // Providers want signed reasoning back right before the calls it led to: these calls begin a new message.
    this.parentMessageId = kind === 'text' ? messageId : undefined
    return messageId
  }

  /** Writes a delta of the message begun last. The path of every token: one literal event, nothing spread. */
  write(delta: string): void {
    if (!this.#hasWritten) this.#writeStart()
    const { kind, messageId = '', subagentRunId } = this
    const type = kind === 'reasoning' ? 'REASONING_MESSAGE_CHUNK' : 'TEXT_MESSAGE_CHUNK'
    this.#options.sink.add(
      subagentRunId === undefined ? { type, messageId, delta } : { type, messageId, delta, subagentRunId },
    )
  }

  /**
   * Sends the provider's encrypted value for a message, by default the one being written. The run stream keeps it until the
   * message ends, and makes an empty reasoning message for an unknown id.
   */
  sendEncryptedValue(encryptedValue: string, messageId = this.messageId ?? this.newId('reasoning')): void {
    this.#options.sink.add({
      type: 'REASONING_ENCRYPTED_VALUE',
      subtype: 'message',
      entityId: messageId,
      encryptedValue,
      ...spanTag(this.subagentRunId),
    })
  }

  /** Ends the message being written, if any. */
  end(): void {
    const { kind, messageId } = this
    if (kind === undefined || messageId === undefined) return
    if (this.#hasWritten) {
      const type = kind === 'reasoning' ? 'REASONING_MESSAGE_END' : 'TEXT_MESSAGE_END'
      this.#options.sink.add({ type, messageId, ...spanTag(this.subagentRunId) })
    }
    this.breakOff()
  }

  /** Stops writing the message without an end, which an incomplete message gets of the run stream. */
  breakOff(): void {
    this.kind = this.messageId = undefined
    this.#hasWritten = false
  }

  /** An id for a message that begins later. */
  newId(kind: MessageKind): string {
    return this.#options.newId(kind === 'text' ? 'message' : 'reasoning')
  }

  /** With a start of its own, the message stays open until its end, also while others of its lane are written. */
  #writeStart(): void {
    const { kind, messageId = '' } = this
    const { sink, name } = this.#options
    this.#hasWritten = true
    const tag = spanTag(this.subagentRunId)
    if (kind === 'reasoning')
      sink.add({ type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...tag })
    else
      sink.add({
        type: 'TEXT_MESSAGE_START',
        messageId,
        role: 'assistant',
        ...(name === undefined ? {} : { name }),
        ...tag,
      })
  }
}
