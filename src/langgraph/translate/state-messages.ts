import { BaseMessage, type AIMessage, type ToolMessage } from '@langchain/core/messages'
import { Answer, type AnswerOptions } from './answer.js'
import { resultContent } from './content.js'
import { isAnswer, isTool, messagesIn } from './found-messages.js'
import { toText } from './json-safe.js'

export interface StateMessagesOptions extends Pick<AnswerOptions, 'sink' | 'calls'> {
  /** Ids of messages that clients have. */
  readonly known: Iterable<string>
}

interface Waiting {
  readonly message: AIMessage
  readonly span: string | undefined
}

/** Messages that no model was heard to say: nodes make them by hand, or from a model that is not shown. */
export class StateMessages {
  readonly #options: StateMessagesOptions
  /** Those of messages that clients have, and of those that were there before. */
  readonly #known: Set<string>
  readonly #told: Set<string>
  /** The first state is what the graph began with. Before it is there, old and new cannot be told apart. */
  #hasHistory = false
  /** Messages of nodes that cannot be told yet. The graph gives them their ids after the node has ended. */
  #waiting: Waiting[] = []

  constructor(options: StateMessagesOptions) {
    this.#options = options
    this.#known = new Set(options.known)
    this.#told = new Set(this.#known)
  }

  /** The messages that clients have. */
  get told(): ReadonlySet<string> {
    return this.#told
  }

  /** Notes a message that clients have. */
  note(id: string | undefined): void {
    if (id === undefined) return
    this.#known.add(id)
    this.#told.add(id)
  }

  /** Takes what a node or a tool has given. */
  takeOutput(output: unknown, span: string | undefined): void {
    for (const message of messagesIn(output, 'messages')) {
      if (isTool(message)) this.result(message, span)
      else if (!isAnswer(message)) continue
      else if (message.id === undefined || !this.#hasHistory) this.#waiting.push({ message, span })
      else this.#say(message, span)
    }
    for (const message of messagesIn(output)) if (isTool(message)) this.result(message, span)
  }

  /** Takes the messages of the whole graph's state. */
  takeState(messages: unknown): void {
    const given: readonly unknown[] = Array.isArray(messages) ? messages : []
    const all = given.filter((entry) => BaseMessage.isInstance(entry))
    if (this.#hasHistory) this.#takeNews(all)
    else this.#takeHistory(all)
  }

  /** Tells the message that has made a call, if a node gave one. */
  reveal(toolCallId: string): void {
    const found = this.#waiting.find(({ message }) => message.tool_calls?.some(({ id }) => id === toolCallId))
    if (found?.message.id === undefined) return
    this.#waiting = this.#waiting.filter((waiting) => waiting !== found)
    this.#say(found.message, found.span)
  }

  result({ tool_call_id: toolCallId, content, status }: ToolMessage, span: string | undefined): void {
    if (!this.#options.calls.isOpen(toolCallId)) return
    const metadata = status === 'error' ? { millrace: { isError: true } } : undefined
    this.#options.calls.result({ toolCallId, content: resultContent(content, toText), metadata, span })
  }

  #takeHistory(all: readonly BaseMessage[]): void {
    this.#hasHistory = true
    const { calls } = this.#options
    for (const message of all) {
      if (message.id !== undefined) this.#known.add(message.id)
      if (isTool(message)) calls.noteResult(message.tool_call_id)
      else if (isAnswer(message))
        for (const { id } of message.tool_calls ?? []) if (id !== undefined) calls.noteCall(id)
    }
    const waiting = this.#waiting
    this.#waiting = waiting.filter(({ message }) => message.id === undefined)
    for (const { message, span } of waiting) if (message.id !== undefined) this.#say(message, span)
  }

  #takeNews(all: readonly BaseMessage[]): void {
    this.#waiting = []
    for (const message of all) {
      if (isTool(message)) this.result(message, undefined)
      // By now whatever span it was made in may be over.
      else if (isAnswer(message)) this.#say(message, undefined)
    }
  }

  #say(message: AIMessage, span: string | undefined): void {
    const { id } = message
    if (id === undefined || this.#known.has(id)) return
    this.note(id)
    const { sink, calls } = this.#options
    // A node may well repeat, in a message of its own, calls that a model has made.
    new Answer({ sink, calls, report: () => undefined, span, fallbackId: id }).complete(message)
  }
}
