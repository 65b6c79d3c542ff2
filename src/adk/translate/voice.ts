import { tagOf, type Lane } from './lane.js'
import type { EventSink } from '../../agents/index.js'
import { releaseHeld, startOver, takePiece, takeWhole, type Speech } from './speech.js'
import type { TranslatorOptions } from './translator.js'

export interface VoiceOptions extends Pick<TranslatorOptions, 'newId' | 'report'> {
  readonly sink: EventSink
}

/**
 * Turns what lanes say into messages: reasoning and text take turns, and one ends before the other begins. A class: it
 * is the path of every token, and its methods need each other.
 */
export class Voice {
  /** Whether any text was shown in this run. */
  hasShownText = false
  readonly #options: VoiceOptions
  #hasReported = false

  constructor(options: VoiceOptions) {
    this.#options = options
  }

  /** A piece of a streamed answer. */
  piece(lane: Lane, speech: Speech, text: string): void {
    const delta = takePiece(speech, text)
    if (delta === '') return
    if (lane.open !== speech) this.#open(lane, speech)
    this.#delta(lane, speech, delta)
  }

  /** All of a complete answer, of one kind: only what was not streamed is sent. */
  whole(lane: Lane, speech: Speech, text: string): void {
    const rest = takeWhole(speech, text)
    if (rest === undefined) {
      this.#release(lane, speech)
      if (text !== '') this.#reportOther(lane)
      return
    }
    if (rest === '') return
    if (lane.open !== speech) this.#goOn(lane, speech)
    this.#delta(lane, speech, rest)
  }

  /** The provider's signature for what is being said, or was said last. */
  sign(lane: Lane, speech: Speech, signature: string): void {
    if (lane.open === speech) {
      speech.signature = signature
      return
    }
    this.#signed(lane, speech, signature)
  }

  /** Ends what is open; the answer goes on later. */
  pause(lane: Lane): void {
    this.#close(lane)
  }

  /** The end of an answer, whole or broken off: what was held back is sent, what is open ends. */
  finish(lane: Lane): void {
    this.#release(lane, lane.reasoning)
    this.#release(lane, lane.text)
    this.#close(lane)
    startOver(lane.reasoning)
    startOver(lane.text)
  }

  /** The messages that a complete answer of this kind is, or is going to be. */
  idsOf(speech: Speech): string[] {
    if (speech.ids.length > 0) return [...speech.ids]
    speech.nextId ??= this.#newId(speech)
    return [speech.nextId]
  }

  #newId({ kind }: Speech): string {
    return this.#options.newId(kind === 'text' ? 'message' : 'reasoning')
  }

  /** What was streamed may have been closed for something else: then its message goes on. */
  #goOn(lane: Lane, speech: Speech): void {
    if (speech.ids.length === 0) {
      this.#open(lane, speech)
      return
    }
    this.#close(lane)
    lane.open = speech
  }

  #open(lane: Lane, speech: Speech): void {
    this.#close(lane)
    const messageId = speech.nextId ?? this.#newId(speech)
    speech.nextId = undefined
    speech.ids.push(messageId)
    lane.open = speech
    if (speech.kind === 'text') {
      this.hasShownText = true
      lane.holder = messageId
      const name = lane.kind === 'root' ? {} : { name: lane.author }
      this.#options.sink.add({
        type: 'TEXT_MESSAGE_START',
        messageId,
        role: 'assistant',
        ...name,
        ...tagOf(lane),
      })
    } else {
      // Signed reasoning goes back to a provider right before the calls it led to.
      lane.holder = undefined
      this.#options.sink.add({
        type: 'REASONING_MESSAGE_START',
        messageId,
        role: 'reasoning',
        ...tagOf(lane),
      })
    }
  }

  #close(lane: Lane): void {
    const speech = lane.open
    const messageId = speech?.ids.at(-1)
    if (!speech || messageId === undefined) return
    lane.open = undefined
    const type = speech.kind === 'text' ? 'TEXT_MESSAGE_END' : 'REASONING_MESSAGE_END'
    this.#options.sink.add({ type, messageId, ...tagOf(lane) })
    const { signature } = speech
    speech.signature = undefined
    if (signature !== undefined) this.#signed(lane, speech, signature)
  }

  /** The one event per token: plain literals, nothing spread. */
  #delta(lane: Lane, speech: Speech, delta: string): void {
    const messageId = speech.ids[speech.ids.length - 1] ?? ''
    const type = speech.kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT'
    const subagentRunId = lane.scope?.subagentRunId
    this.#options.sink.add(
      subagentRunId === undefined ? { type, messageId, delta } : { type, messageId, delta, subagentRunId },
    )
  }

  #release(lane: Lane, speech: Speech): void {
    if (speech.held !== undefined) this.#delta(lane, speech, releaseHeld(speech))
  }

  #signed(lane: Lane, speech: Speech, encryptedValue: string): void {
    // The whole answer may have the signature once more.
    if (speech.signed === encryptedValue) return
    speech.signed = encryptedValue
    const said = speech.ids.at(-1) ?? (speech.kind === 'text' ? lane.holder : undefined)
    this.#options.sink.add({
      type: 'REASONING_ENCRYPTED_VALUE',
      subtype: 'message',
      entityId: said ?? this.#options.newId('reasoning'),
      encryptedValue,
      ...tagOf(lane),
    })
  }

  #reportOther({ author }: Lane): void {
    if (this.#hasReported) return
    this.#hasReported = true
    this.#options.report(
      `'${author}' streamed one text and then gave another as the whole; clients keep what was streamed`,
    )
  }
}
