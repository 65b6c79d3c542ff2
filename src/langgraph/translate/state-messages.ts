import type { ContentPart } from '@ag-ui/core'
import { BaseMessage, type AIMessage, type ToolMessage } from '@langchain/core/messages'
import type { EventSink } from '../../bridge/event-sink.js'
import { isRecord } from '../../core/json.js'
import { toolErrorMark } from '../../protocol/index.js'
import { callerIndex } from '../messages/call-ids.js'
import { blockText, contentText, blockToMediaPart } from '../messages/content.js'
import type { GraphTranslatorOptions } from './graph-translator.js'
import { ModelMessage } from './model-message.js'
import type { RewrittenMessages } from './rewritten-messages.js'
import type { GraphToolCalls } from './tool-calls.js'
import { toSafeText } from './visible-state.js'

export interface StateMessagesOptions extends Pick<GraphTranslatorOptions, 'messages' | 'newId'> {
  readonly sink: EventSink
  readonly calls: GraphToolCalls
  readonly rewritten: RewrittenMessages
}

interface WaitingMessage {
  readonly message: AIMessage
  readonly subagentRunId: string | undefined
}

/** Writes the messages that no model streamed: those that nodes make by hand, and those of hidden models. */
export class StateMessages {
  readonly #options: StateMessagesOptions
  /** Ids of messages that clients have, or that the graph began with. */
  readonly #known: Set<string>
  readonly #shown: Set<string>
  /** True after the first state, which has the old messages. Before it, old and new ones look the same. */
  #hasHistory = false
  /** Messages that cannot be written yet. The graph assigns their ids after the node has ended. */
  #waiting: WaitingMessage[] = []

  constructor(options: StateMessagesOptions) {
    this.#options = options
    this.#known = new Set(options.messages.map(({ id }) => id))
    this.#shown = new Set(this.#known)
  }

  /** Ids of the messages that clients have. */
  get shown(): ReadonlySet<string> {
    return this.#shown
  }

  /** Notes a message that clients have. */
  addShown(id: string | undefined): void {
    if (id === undefined) return
    this.#known.add(id)
    this.#shown.add(id)
  }

  /** Reads the output of a node. It may contain old messages too. */
  readOutput(output: unknown, subagentRunId: string | undefined): void {
    const messages = messagesIn(output, 'messages')
    for (const [index, message] of messages.entries()) {
      this.#options.rewritten.addReturned(message)
      if (isToolMessage(message))
        this.#writeReturned(message, subagentRunId, messages[callerIndex(messages, index)])
      else if (!isAiMessage(message)) continue
      else if (message.id === undefined || !this.#hasHistory) this.#waiting.push({ message, subagentRunId })
      else this.#write(message, subagentRunId)
    }
    for (const message of messagesIn(output))
      if (isToolMessage(message) && !messages.includes(message)) this.#writeReturned(message, subagentRunId)
  }

  /** Reads the messages of the root graph's state. */
  readState(messages: unknown): void {
    const entries: readonly unknown[] = Array.isArray(messages) ? messages : []
    const all = entries.filter((entry) => BaseMessage.isInstance(entry))
    if (this.#hasHistory) this.#readNews(all)
    else this.#readHistory(all)
    this.#options.rewritten.settle(all)
  }

  /** Writes the waiting message that made a call. */
  writeCaller(toolCallId: string): void {
    const found = this.#waitingCaller(toolCallId)
    if (found?.message.id === undefined) return
    this.#waiting = this.#waiting.filter((waiting) => waiting !== found)
    this.#write(found.message, found.subagentRunId)
  }

  /** Writes a result for a call, by the id that clients have for the call. */
  writeResult({ content, status }: ToolMessage, toolCallId: string, subagentRunId: string | undefined): void {
    if (!this.#options.calls.isOpen(toolCallId)) return
    const metadata = status === 'error' ? toolErrorMark : undefined
    this.#options.calls.result({ toolCallId, content: toToolResultContent(content), metadata, subagentRunId })
  }

  /** Writes a result in the output of a node. If its call is not written yet, the state will have both. */
  #writeReturned(message: ToolMessage, subagentRunId: string | undefined, caller?: BaseMessage): void {
    const { id, tool_call_id } = message
    if (this.#waitingCaller(tool_call_id) || (id !== undefined && this.#known.has(id))) return
    this.writeResult(message, this.#options.calls.idIn(caller?.id, tool_call_id), subagentRunId)
  }

  #waitingCaller(toolCallId: string): WaitingMessage | undefined {
    return this.#waiting.find(({ message }) => message.tool_calls?.some(({ id }) => id === toolCallId))
  }

  #readHistory(all: readonly BaseMessage[]): void {
    this.#hasHistory = true
    const { calls } = this.#options
    for (const [index, message] of all.entries()) {
      if (message.id !== undefined) this.#known.add(message.id)
      if (isToolMessage(message)) calls.addAnswered(this.#callOf(message, all, index))
      else if (isAiMessage(message))
        for (const { id } of message.tool_calls ?? [])
          if (id !== undefined) calls.addKnown(calls.idIn(message.id, id))
    }
    const waiting = this.#waiting
    this.#waiting = waiting.filter(({ message }) => message.id === undefined)
    for (const { message, subagentRunId } of waiting)
      if (message.id !== undefined) this.#write(message, subagentRunId)
  }

  /** The span that made a message may have ended, so the run's own agent writes it. */
  #readNews(all: readonly BaseMessage[]): void {
    this.#waiting = []
    for (const [index, message] of all.entries()) {
      if (isAiMessage(message)) this.#write(message, undefined)
      else if (isToolMessage(message)) this.writeResult(message, this.#callOf(message, all, index), undefined)
    }
  }

  /** The call of a result in the state, by the id that clients have for it. */
  #callOf({ tool_call_id }: ToolMessage, all: readonly BaseMessage[], index: number): string {
    return this.#options.calls.idIn(all[callerIndex(all, index)]?.id, tool_call_id)
  }

  #write(message: AIMessage, subagentRunId: string | undefined): void {
    const { id } = message
    if (id === undefined || this.#known.has(id)) return
    this.addShown(id)
    // A node may repeat tool calls of a model in a message of its own.
    const report = (): void => undefined
    new ModelMessage({ ...this.#options, subagentRunId, fallbackId: id, report }).complete(message)
    this.#options.rewritten.addShown(id, message)
  }
}

/** The content of a tool result: text, or parts if it has media. */
export function toToolResultContent(content: unknown): string | ContentPart[] {
  if (!Array.isArray(content)) return toSafeText(content ?? '')
  const blocks: readonly unknown[] = content
  if (blocks.length > 0 && blocks.every((block) => blockText(block) !== undefined)) return contentText(blocks)
  const media = blocks.map(blockToMediaPart)
  if (media.every((part) => part === undefined)) return toSafeText(content)
  return blocks.map(
    (block, index) => media[index] ?? { type: 'text' as const, text: blockText(block) ?? toSafeText(block) },
  )
}

/** Outputs of nodes and tools nest this deep: lists of Commands with lists of messages. */
const MAX_DEPTH = 4

/**
 * The messages in the output of a node or tool: an update, a Command, a list of these, or a message. With `key`, only
 * those under that key of an update.
 */
export function messagesIn(output: unknown, key?: string): BaseMessage[] {
  const found: BaseMessage[] = []
  collectMessages(output, { found, key }, 0)
  return found
}

interface Collection {
  readonly found: BaseMessage[]
  readonly key: string | undefined
}

function collectMessages(value: unknown, collection: Collection, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return
  const { found, key } = collection
  if (BaseMessage.isInstance(value)) found.push(value)
  else if (Array.isArray(value)) for (const entry of value) collectMessages(entry, collection, depth + 1)
  else if (isCommand(value)) collectMessages(value.update, collection, depth + 1)
  else if (isWrappedOutput(value)) collectMessages(value.output, collection, depth + 1)
  else
    // State may be large, so search the members of an update one level deep.
    for (const [name, member] of Object.entries(value)) {
      if (key !== undefined && name !== key) continue
      const entries: readonly unknown[] = Array.isArray(member) ? member : [member]
      for (const entry of entries) if (BaseMessage.isInstance(entry)) found.push(entry)
    }
}

export function isCommand(value: unknown): value is { update?: unknown } {
  return isRecord(value) && value.lg_name === 'Command'
}

/** Callbacks get an output that is not an object inside of one. */
function isWrappedOutput(value: object): value is { output: unknown } {
  const keys = Object.keys(value)
  return keys.length === 1 && keys[0] === 'output'
}

export function isToolMessage(message: BaseMessage): message is ToolMessage {
  return message.type === 'tool'
}

function isAiMessage(message: BaseMessage): message is AIMessage {
  return message.type === 'ai'
}
