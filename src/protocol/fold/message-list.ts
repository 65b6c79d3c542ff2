import type { AssistantMessage, Message, ToolCall } from '@ag-ui/core'

/**
 * The messages a client holds, in order, with constant-time look-up by message id and by tool-call id. The messages
 * it is given are never changed: one is copied the first time it is written to. What `own` gives may be written.
 */
export interface MessageList {
  readonly all: readonly Message[]
  get(id: string): Message | undefined
  /** The message to write to, copied out of the given history if need be. */
  own(id: string): Message | undefined
  /** The call with this id and the message that holds it, both writable. */
  ownCall(toolCallId: string): { call: ToolCall; message: AssistantMessage } | undefined
  hasCall(toolCallId: string): boolean
  hasResult(toolCallId: string): boolean
  push(message: Message): void
  addCall(message: AssistantMessage, call: ToolCall): void
  /** Puts a tool result right behind the message that made the call and the results already there. */
  insertResult(message: Message, toolCallId: string): void
  /** Puts a message in the place of the one that has its id. */
  replace(message: Message): void
  reset(messages: readonly Message[]): void
}

export function createMessageList(initial: readonly Message[]): MessageList {
  return new Messages(initial)
}

// A class: accessors in an object literal would give every run an object shape of its own, slow and large.
class Messages implements MessageList {
  #all: Message[]
  /** Most runs look for an id or two in a long history: it is looked through a few times before this is built. */
  #index: Index | undefined
  #looks = 0
  #own: Set<Message> | undefined
  /** The newest of ours. What comes next is most likely for it. */
  #latest: Message | undefined

  constructor(initial: readonly Message[]) {
    this.#all = [...initial]
  }

  get all(): readonly Message[] {
    return this.#all
  }

  get(id: string): Message | undefined {
    if (this.#latest?.id === id) return this.#latest
    if (this.#index === undefined && this.#looks++ < looksWithoutIndex)
      return this.#all.find((message) => message.id === id)
    return this.#lookUp().byId.get(id)
  }

  own(id: string): Message | undefined {
    const message = this.get(id)
    return message && this.#writable(message)
  }

  ownCall(toolCallId: string): { call: ToolCall; message: AssistantMessage } | undefined {
    const holder = this.#lookUp().holderOfCall?.get(toolCallId)
    const message = holder === undefined ? undefined : this.#lookUp().byId.get(holder)
    if (message?.role !== 'assistant') return undefined
    const mine = this.#writable(message) as AssistantMessage
    const call = mine.toolCalls?.find(({ id }) => id === toolCallId)
    return call && { call, message: mine }
  }

  hasCall(toolCallId: string): boolean {
    return this.#lookUp().holderOfCall?.has(toolCallId) === true
  }

  hasResult(toolCallId: string): boolean {
    return this.#lookUp().answered?.has(toolCallId) === true
  }

  push(message: Message): void {
    this.#take(message)
    this.#index?.byId.set(message.id, message)
    this.#all.push(message)
  }

  addCall(message: AssistantMessage, call: ToolCall): void {
    ;(message.toolCalls ??= []).push(call)
    ;(this.#lookUp().holderOfCall ??= new Map()).set(call.id, message.id)
  }

  insertResult(message: Message, toolCallId: string): void {
    const index = this.#lookUp()
    const { byId, holderOfCall } = index
    const holder = holderOfCall?.get(toolCallId)
    const caller = holder === undefined ? undefined : byId.get(holder)
    const all = this.#all
    let at = caller ? all.lastIndexOf(caller) + 1 : all.length
    while (all[at]?.role === 'tool') at++
    all.splice(at, 0, message)
    this.#take(message)
    ;(index.answered ??= new Set()).add(toolCallId)
    if (byId.has(message.id)) this.#forget()
    else byId.set(message.id, message)
  }

  replace(message: Message): void {
    const old = this.get(message.id)
    if (!old) return
    this.#all[this.#all.lastIndexOf(old)] = message
    // Tool calls and results go with the message that held them.
    if (old.role !== message.role) this.#forget()
    this.#take(message)
    this.#index?.byId.set(message.id, message)
  }

  reset(messages: readonly Message[]): void {
    this.#all = [...messages]
    this.#forget()
    this.#own = undefined
  }

  #lookUp(): Index {
    return (this.#index ??= indexOf(this.#all))
  }

  #forget(): void {
    this.#index = undefined
    this.#latest = undefined
  }

  #take(message: Message): void {
    ;(this.#own ??= new Set()).add(message)
    this.#latest = message
  }

  #writable(message: Message): Message {
    if (this.#own?.has(message) === true) return message
    const copy = copyOf(message)
    this.#take(copy)
    this.#all[this.#all.lastIndexOf(message)] = copy
    this.#index?.byId.set(copy.id, copy)
    return copy
  }
}

/** An index takes as long to build as some ten looks through a list. */
const looksWithoutIndex = 8

interface Index {
  readonly byId: Map<string, Message>
  /** Tool-call id to the id of the assistant message that holds the call. Many threads have no calls. */
  holderOfCall: Map<string, string> | undefined
  /** Tool-call ids that have a result. */
  answered: Set<string> | undefined
}

/** The first message wins where a history names an id twice, as it does for clients. */
function indexOf(messages: readonly Message[]): Index {
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

function copyOf(message: Message): Message {
  if (message.role !== 'assistant' || !message.toolCalls) return { ...message }
  const toolCalls = message.toolCalls.map((call) => ({ ...call, function: { ...call.function } }))
  return { ...message, toolCalls }
}
