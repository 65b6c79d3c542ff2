import { mergeMetadata, type AssistantMessage, type Message, type Metadata, type ToolCall } from '@ag-ui/core'
import type { SettledMessages } from '../contract.js'

/** An index takes as long to build as some ten searches of a list. */
const searchesWithoutIndex = 8

interface Index {
  readonly byId: Map<string, Message>
  /** Tool-call id to the id of the assistant message that holds the call. Many threads have no calls. */
  holderOfCall: Map<string, string> | undefined
  /** Tool-call ids that have a result. */
  answered: Set<string> | undefined
}

/**
 * The messages a client holds, in order, with constant-time look-up by message id and by tool-call id. Never changes
 * the messages it starts with: the first write copies a message. Callers may write to what `own` returns.
 */
export class MessageList {
  #all: Message[]
  /** Built after a few searches: most runs look for an id or two in a long history. */
  #index: Index | undefined
  #searches = 0
  /** The id that was last searched for in vain. */
  #missing: string | undefined
  #own: Set<Message> | undefined
  /** How many messages `settle` has returned, and how often one of them was changed since. */
  #settled = 0
  #edition = 0
  /** The newest copied or new message. The next event is most likely for it. */
  #latest: Message | undefined

  constructor(initial: readonly Message[]) {
    this.#all = [...initial]
  }

  get all(): readonly Message[] {
    return this.#all
  }

  /** The messages so far. None of these objects changes any more: the next write to one copies it. */
  settle(): SettledMessages {
    this.#own = undefined
    this.#latest = undefined
    this.#settled = this.#all.length
    return { messages: this.#all, edition: this.#edition }
  }

  get(id: string): Message | undefined {
    if (this.#latest?.id === id) return this.#latest
    if (this.#index === undefined && this.#searches++ < searchesWithoutIndex) return this.#search(id)
    return this.#indexed().byId.get(id)
  }

  /** A new message is looked for several times before it is there. */
  #search(id: string): Message | undefined {
    if (id === this.#missing) return undefined
    const found = this.#all.find((message) => message.id === id)
    if (!found) this.#missing = id
    return found
  }

  /** The message to write to, copied out of the initial history if need be. */
  own(id: string): Message | undefined {
    if (this.#latest?.id === id) return this.#latest
    const message = this.get(id)
    return message && this.#writable(message)
  }

  /** The call with this id and the message that holds it, both writable. */
  ownCall(toolCallId: string): { call: ToolCall; message: AssistantMessage } | undefined {
    const holder = this.#indexed().holderOfCall?.get(toolCallId)
    const message = holder === undefined ? undefined : this.#indexed().byId.get(holder)
    if (message?.role !== 'assistant') return undefined
    const own = this.#writable(message) as AssistantMessage
    const call = own.toolCalls?.find(({ id }) => id === toolCallId)
    return call && { call, message: own }
  }

  hasCall(toolCallId: string): boolean {
    return this.#indexed().holderOfCall?.has(toolCallId) === true
  }

  hasResult(toolCallId: string): boolean {
    return this.#indexed().answered?.has(toolCallId) === true
  }

  push(message: Message): void {
    this.#missing = undefined
    this.#addOwn(message)
    this.#index?.byId.set(message.id, message)
    this.#all.push(message)
  }

  addCall(message: AssistantMessage, call: ToolCall): void {
    ;(message.toolCalls ??= []).push(call)
    ;(this.#indexed().holderOfCall ??= new Map()).set(call.id, message.id)
  }

  /** Inserts a tool result right behind the message that made the call and the results already there. */
  insertResult(message: Message, toolCallId: string): void {
    const index = this.#indexed()
    const { byId, holderOfCall } = index
    const holder = holderOfCall?.get(toolCallId)
    const caller = holder === undefined ? undefined : byId.get(holder)
    const all = this.#all
    let at = caller ? all.lastIndexOf(caller) + 1 : all.length
    while (all[at]?.role === 'tool') at++
    all.splice(at, 0, message)
    this.#noteChange(at)
    this.#addOwn(message)
    ;(index.answered ??= new Set()).add(toolCallId)
    if (byId.has(message.id)) this.#dropIndex()
    else byId.set(message.id, message)
  }

  /** Replaces the message that has the same id. */
  replace(message: Message): void {
    const old = this.get(message.id)
    if (!old) return
    this.#put(old, message)
    // Tool calls and results go with the message that held them.
    if (old.role !== message.role || message.role === 'assistant') this.#dropIndex()
    this.#addOwn(message)
    this.#index?.byId.set(message.id, message)
  }

  reset(messages: readonly Message[]): void {
    this.#missing = undefined
    this.#all = [...messages]
    this.#noteChange(0)
    this.#dropIndex()
    this.#own = undefined
  }

  #indexed(): Index {
    return (this.#index ??= buildIndex(this.#all))
  }

  #dropIndex(): void {
    this.#index = undefined
    this.#latest = undefined
  }

  #addOwn(message: Message): void {
    ;(this.#own ??= new Set()).add(message)
    this.#latest = message
  }

  #writable(message: Message): Message {
    if (this.#own?.has(message) === true) return message
    const copy = copyMessage(message)
    this.#addOwn(copy)
    this.#put(message, copy)
    this.#index?.byId.set(copy.id, copy)
    return copy
  }

  #put(old: Message, message: Message): void {
    const at = this.#all.lastIndexOf(old)
    this.#all[at] = message
    this.#noteChange(at)
  }

  #noteChange(at: number): void {
    if (at >= this.#settled) return
    this.#edition++
    this.#settled = 0
  }
}

/** The first message wins where a history names an id twice, as it does for clients. */
function buildIndex(messages: readonly Message[]): Index {
  const byId = new Map<string, Message>()
  let holderOfCall: Index['holderOfCall']
  let answered: Index['answered']
  for (const message of messages) {
    if (!byId.has(message.id)) byId.set(message.id, message)
    if (message.role === 'tool') (answered ??= new Set()).add(message.toolCallId)
    if (message.role !== 'assistant') continue
    for (const call of message.toolCalls ?? []) {
      holderOfCall ??= new Map()
      if (!holderOfCall.has(call.id)) holderOfCall.set(call.id, message.id)
    }
  }
  return { byId, holderOfCall, answered }
}

function copyMessage(message: Message): Message {
  if (message.role !== 'assistant' || !message.toolCalls) return { ...message }
  const toolCalls = message.toolCalls.map((call) => ({ ...call, function: { ...call.function } }))
  return { ...message, toolCalls }
}

/** Adds an event's metadata to the message or call that the event builds: key by key, the last write wins. */
export function addMetadata(target: { metadata?: Metadata }, event: { metadata?: Metadata }): void {
  if (event.metadata === undefined) return
  const merged = mergeMetadata(target.metadata, event.metadata)
  if (merged !== undefined) target.metadata = merged
}
