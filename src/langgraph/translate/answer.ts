import type { AIMessageChunk, BaseMessage } from '@langchain/core/messages'
import { isRecord } from '../../core/is-record.js'
import { signaturesKey } from '../input/tool-calls.js'
import { CallPieces, type WholeCall } from './call-pieces.js'
import { blockText, mediaPart } from './content.js'
import { piecesBeside, piecesOfBlock } from './reasoning-pieces.js'
import type { EventSink } from '../../agents/index.js'
import { tagged } from './tagged.js'
import type { Draft } from './taken-back.js'
import { Thoughts } from './thoughts.js'
import type { ToolCalls } from './tool-calls.js'

export interface AnswerOptions {
  readonly sink: EventSink
  readonly calls: ToolCalls
  readonly report: (problem: string) => void
  readonly span: string | undefined
  /** The id of its message, when the message itself has none. */
  readonly fallbackId: string
}

interface Wanted {
  readonly text: boolean
  readonly thoughts: boolean
  readonly media: boolean
}

const noBlocks: readonly unknown[] = []

const everything: Wanted = { text: true, thoughts: true, media: true }

/**
 * One answer of one model: a message, its reasoning and its calls. Nothing is shared with any other answer, so those
 * that are written at the same time stay apart.
 */
export class Answer {
  readonly #options: AnswerOptions
  readonly #thoughts: Thoughts
  #calls: CallPieces | undefined
  /** Pinned by whatever comes first. It is the one the message gets in the graph's state. */
  #messageId: string | undefined
  #hasText = false
  #isOpen = false
  #hasMedia = false
  #hasSigned = false

  constructor(options: AnswerOptions) {
    this.#options = options
    this.#thoughts = new Thoughts(options.sink, options.span)
  }

  get messageId(): string | undefined {
    return this.#messageId
  }

  /** A piece of it. The path of every token. */
  take(message: AIMessageChunk): void {
    this.#messageId ??= message.id ?? this.#options.fallbackId
    this.#takeContent(message)
    const pieces = message.tool_call_chunks
    if (pieces !== undefined && pieces.length > 0) {
      this.#thoughts.close()
      const calls = this.#callPieces()
      for (const piece of pieces) calls.take(piece)
    }
    this.#signCalls(message.additional_kwargs)
  }

  /** All of it: what was not told in pieces is told now, and it ends. */
  complete(message: BaseMessage | undefined): void {
    if (message) {
      this.#messageId ??= message.id ?? this.#options.fallbackId
      const thoughts = this.#thoughts.ids.length === 0
      this.#takeContent(message, { text: !this.#hasText, thoughts, media: !this.#hasMedia })
      const { tool_calls: whole = [] } = message as { tool_calls?: readonly WholeCall[] }
      if (whole.length > 0) {
        this.#thoughts.close()
        this.#callPieces().complete(whole)
      }
    }
    this.#thoughts.close()
    this.#closeText()
    this.#calls?.end()
    if (message && !this.#hasSigned) this.#signCalls(message.additional_kwargs)
  }

  /** It broke off: closes what is open, and gives what was told. */
  giveUp(): Draft {
    this.#thoughts.close()
    this.#closeText()
    return {
      span: this.#options.span,
      messageId: this.#hasText ? this.#messageId : undefined,
      reasoningIds: this.#thoughts.ids,
      callIds: this.#calls?.giveUp() ?? [],
    }
  }

  #takeContent({ content, additional_kwargs: kwargs }: BaseMessage, wanted: Wanted = everything): void {
    const blocks: readonly unknown[] = Array.isArray(content) ? content : noBlocks
    if (wanted.thoughts && (kwargs.reasoning_content !== undefined || kwargs.reasoning !== undefined))
      this.#takeBeside(kwargs, blocks.some(hasThought))
    if (typeof content === 'string') {
      if (content !== '' && wanted.text) this.#say(content)
      return
    }
    for (const block of blocks) {
      const text = blockText(block)
      if (text === undefined) this.#takeBlock(block, wanted)
      else if (text !== '' && wanted.text) this.#say(text)
    }
  }

  #takeBlock(block: unknown, { thoughts, media }: Wanted): void {
    const part = media ? mediaPart(block) : undefined
    if (part) this.#show(part)
    else if (thoughts)
      for (const piece of piecesOfBlock(block)) this.#thoughts.take(piece, this.#messageId ?? '')
  }

  /** The messages of models are texts in AG-UI. */
  #show(part: NonNullable<ReturnType<typeof mediaPart>>): void {
    this.#hasMedia = true
    const { sink, span } = this.#options
    const value = { messageId: this.#messageId ?? '', part }
    sink.add({ type: 'CUSTOM', name: 'langgraph.media', value, ...tagged(span) })
  }

  /** Some clients tell the same text twice, as a block and beside the content: the block counts. */
  #takeBeside(kwargs: Readonly<Record<string, unknown>>, isTold: boolean): void {
    for (const piece of piecesBeside(kwargs))
      this.#thoughts.take(isTold ? { ...piece, text: undefined } : piece, this.#messageId ?? '')
  }

  #say(delta: string): void {
    const { sink, span } = this.#options
    const messageId = this.#messageId ?? ''
    if (this.#thoughts.isOpen) this.#thoughts.close()
    if (!this.#isOpen) {
      this.#isOpen = this.#hasText = true
      sink.add({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...tagged(span) })
    }
    sink.add(
      span === undefined
        ? { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }
        : { type: 'TEXT_MESSAGE_CONTENT', messageId, delta, subagentRunId: span },
    )
  }

  #closeText(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    const { sink, span } = this.#options
    sink.add({ type: 'TEXT_MESSAGE_END', messageId: this.#messageId ?? '', ...tagged(span) })
  }

  #callPieces(): CallPieces {
    const { calls, span, report } = this.#options
    return (this.#calls ??= new CallPieces({ calls, span, report, messageId: () => this.#messageId ?? '' }))
  }

  #signCalls(kwargs: Readonly<Record<string, unknown>>): void {
    const signatures = kwargs[signaturesKey]
    if (!isRecord(signatures)) return
    for (const [entityId, encryptedValue] of Object.entries(signatures)) {
      if (typeof encryptedValue !== 'string' || !this.#options.calls.isKnown(entityId)) continue
      this.#hasSigned = true
      this.#options.sink.add({
        type: 'REASONING_ENCRYPTED_VALUE',
        subtype: 'tool-call',
        entityId,
        encryptedValue,
        ...tagged(this.#options.span),
      })
    }
  }
}

function hasThought(block: unknown): boolean {
  return piecesOfBlock(block).some(({ text }) => text !== undefined)
}
