/**
 * The text, or the reasoning, of one lane between two complete answers. ADK sends it in chunks and then once more as a
 * whole. Some models send cumulative chunks: each repeats all before it.
 */
export class StreamedText {
  /** The messages it became. */
  messageIds: string[] = []
  /** The id of its next message, when it was chosen before the message begins. */
  nextMessageId: string | undefined
  /** The provider's encrypted value that was sent last. */
  encryptedValue: string | undefined
  #text = ''
  /** Unknown until two chunks have shown it. */
  #chunks: 'unknown' | 'deltas' | 'cumulative' = 'unknown'
  /** Chunks that could be either. The next one decides. */
  #undecided: string[] | undefined

  /** All text so far. */
  get text(): string {
    return this.#text
  }

  /**
   * Returns the new text of a chunk. Chunks are cumulative when two in a row are longer than all text before them and
   * begin with it; the first of the two is kept back. So a token that comes twice ('ha', 'ha') is two tokens.
   */
  takeChunk(chunk: string): string {
    if (this.#chunks === 'deltas' || this.#text === '') {
      this.#text += chunk
      return chunk
    }
    return this.#chunks === 'cumulative' ? this.#takeCumulative(chunk) : this.#takeUnknown(chunk)
  }

  /** Returns the text that a complete answer adds. Undefined when it is another text than the streamed one. */
  takeWhole(whole: string): string | undefined {
    if (!whole.startsWith(this.#text)) return undefined
    this.#undecided = undefined
    return whole.slice(this.#text.length)
  }

  /** Returns the chunks kept back, as new text: no other chunk will decide about them. */
  takeUndecided(): string {
    if (this.#undecided === undefined) return ''
    const text = this.#undecided.join('')
    this.#undecided = undefined
    this.#text += text
    return text
  }

  /** Prepares for the next answer. The kind of chunks stays known. */
  reset(): void {
    this.#text = ''
    this.#undecided = undefined
    this.encryptedValue = undefined
    if (this.messageIds.length > 0) this.messageIds = []
  }

  #takeCumulative(chunk: string): string {
    if (chunk === this.#text) return ''
    if (!extendsText(chunk, this.#text)) {
      this.#chunks = 'deltas'
      this.#text += chunk
      return chunk
    }
    const delta = chunk.slice(this.#text.length)
    this.#text = chunk
    return delta
  }

  #takeUnknown(chunk: string): string {
    const last = this.#undecided?.at(-1)
    if (last === undefined ? extendsText(chunk, this.#text) : chunk === last) {
      ;(this.#undecided ??= []).push(chunk)
      return ''
    }
    if (last !== undefined && extendsText(chunk, last)) {
      this.#undecided = undefined
      this.#chunks = 'cumulative'
      return this.#takeCumulative(chunk)
    }
    this.#chunks = 'deltas'
    const delta = this.takeUndecided() + chunk
    this.#text += chunk
    return delta
  }
}

function extendsText(chunk: string, before: string): boolean {
  return chunk.length > before.length && chunk.startsWith(before)
}
