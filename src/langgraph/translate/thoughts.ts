import type { ReasoningPiece } from './reasoning-pieces.js'
import type { EventSink } from '../../agents/index.js'
import { tagged } from './tagged.js'

/** What one answer of a model says of its reasoning: one message for each thought, each closed before another begins. */
export class Thoughts {
  readonly #sink: EventSink
  readonly #span: string | undefined
  /** How many there were that the provider gave no id. */
  #unnamed = 0
  /** The id of the next one, when the provider has told it. */
  #nextId: string | undefined
  #latestId: string | undefined
  #block: ReasoningPiece['block']
  #paragraph: number | undefined
  #sealed: string | undefined
  isOpen = false
  /** The messages it became. */
  readonly ids: string[] = []

  constructor(sink: EventSink, span: string | undefined) {
    this.#sink = sink
    this.#span = span
  }

  take({ id, text, sealed, block, paragraph, isRedacted }: ReasoningPiece, messageId: string): void {
    if (isRedacted === true || (block !== undefined && this.#block !== undefined && block !== this.#block)) {
      this.close()
      this.#latestId = undefined
    }
    this.#block = block ?? this.#block
    if (id !== undefined && !(this.isOpen && id === this.#latestId)) {
      this.close()
      this.#nextId = id
    }
    if (text !== undefined && text !== '') this.#say(text, paragraph, messageId)
    if (sealed !== undefined) {
      if (this.isOpen) this.#sealed = (this.#sealed ?? '') + sealed
      else
        this.#seal(
          (this.#nextId === undefined ? this.#latestId : undefined) ?? this.#newId(messageId),
          sealed,
        )
    }
    if (isRedacted === true) this.#latestId = undefined
  }

  close(): void {
    if (!this.isOpen) return
    this.isOpen = false
    const messageId = this.#latestId ?? ''
    this.#sink.add({ type: 'REASONING_MESSAGE_END', messageId, ...tagged(this.#span) })
    const sealed = this.#sealed
    this.#sealed = undefined
    if (sealed !== undefined) this.#seal(messageId, sealed)
  }

  #say(text: string, paragraph: number | undefined, messageId: string): void {
    const isNext = this.isOpen && this.#paragraph !== undefined && paragraph !== this.#paragraph
    const delta = isNext && paragraph !== undefined ? `\n\n${text}` : text
    this.#paragraph = paragraph
    if (!this.isOpen) this.#open(messageId)
    this.#sink.add({
      type: 'REASONING_MESSAGE_CONTENT',
      messageId: this.#latestId ?? '',
      delta,
      ...tagged(this.#span),
    })
  }

  #open(messageId: string): void {
    const id = this.#newId(messageId)
    this.isOpen = true
    this.#sink.add({
      type: 'REASONING_MESSAGE_START',
      messageId: id,
      role: 'reasoning',
      ...tagged(this.#span),
    })
  }

  #newId(messageId: string): string {
    let id = this.#nextId
    this.#nextId = undefined
    if (id === undefined) {
      this.#unnamed++
      id = `${messageId}:reasoning${this.#unnamed === 1 ? '' : `:${this.#unnamed}`}`
    }
    this.#latestId = id
    if (!this.ids.includes(id)) this.ids.push(id)
    return id
  }

  #seal(entityId: string, encryptedValue: string): void {
    this.#sink.add({
      type: 'REASONING_ENCRYPTED_VALUE',
      subtype: 'message',
      entityId,
      encryptedValue,
      ...tagged(this.#span),
    })
  }
}
