import type { EventSink } from '../../bridge/event-sink.js'
import { spanTag } from '../../bridge/spans.js'
import { shownOnlyId, shownOnlyMark } from '../messages/shown-only.js'
import type { GraphTranslatorOptions } from './graph-translator.js'

export interface EmittedMessagesOptions extends Pick<GraphTranslatorOptions, 'messages' | 'newId'> {
  readonly sink: EventSink
}

/** A message as code has emitted it. */
export interface EmittedMessage {
  /** The id that clients have. */
  readonly id: string
  readonly role: 'assistant' | 'developer' | 'system' | 'user'
  readonly content: string
}

export interface NewEmittedMessage extends Omit<EmittedMessage, 'id'> {
  /** The id that a node may return the message with. */
  readonly id: string | undefined
  readonly subagentRunId: string | undefined
}

/**
 * Writes the messages that code emits. They are shown to people only, until a node returns a message with the same id.
 * That one counts.
 */
export class EmittedMessages {
  readonly #options: EmittedMessagesOptions
  /** Those with an id of their own, by that id. */
  readonly #emitted = new Map<string, EmittedMessage>()
  readonly #returned = new Set<string>()
  readonly #marked = new Set<string>()

  constructor(options: EmittedMessagesOptions) {
    this.#options = options
  }

  /** Writes a message, or more text of one. Returns the id that clients have for it. */
  write({ id, role, content, subagentRunId }: NewEmittedMessage): string {
    const { sink, newId } = this.#options
    // Clients know an id of an earlier run as another message.
    const messageId = id === undefined || this.#isOfThread(id) ? shownOnlyId(newId('message')) : id
    const before = messageId === id ? (this.#emitted.get(id)?.content ?? '') : ''
    if (id !== undefined) this.#emitted.set(id, { id: messageId, role, content: before + content })
    const tag = spanTag(subagentRunId)
    // The graph does not get what subagents have written anyway.
    const isMarked = messageId === id && subagentRunId === undefined && !this.#returned.has(id)
    if (isMarked) this.#marked.add(id)
    sink.add({
      type: 'TEXT_MESSAGE_CHUNK',
      ...{ messageId, role },
      ...(content === '' ? {} : { delta: content }),
      ...(isMarked ? { metadata: shownOnlyMark(true) } : {}),
      ...tag,
    })
    sink.add({ type: 'TEXT_MESSAGE_END', messageId, ...tag })
    return messageId
  }

  /** The message that clients have under an id because code has emitted it. */
  shown(id: string): EmittedMessage | undefined {
    const emitted = this.#emitted.get(id)
    return emitted?.id === id ? emitted : undefined
  }

  /** Notes that a node has returned a message: it is the graph's. Returns the id of the emitted one that it replaces. */
  addReturned(id: string): string | undefined {
    const emitted = this.#emitted.get(id)
    if (!emitted || this.#returned.has(id)) return undefined
    this.#returned.add(id)
    if (emitted.id !== id) return emitted.id
    if (!this.#marked.has(id)) return undefined
    const { sink } = this.#options
    const metadata = shownOnlyMark(false)
    sink.add({ type: 'TEXT_MESSAGE_START', messageId: id, role: emitted.role, metadata })
    sink.add({ type: 'TEXT_MESSAGE_END', messageId: id })
    return undefined
  }

  #isOfThread(id: string): boolean {
    return this.#options.messages.some((message) => message.id === id)
  }
}
