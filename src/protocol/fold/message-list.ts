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
  let all: Message[] = [...initial]
  let index: Index | undefined
  let own = new Set<Message>()

  // Built when first asked for: a run that only streams new text into an empty thread needs none of it.
  const lookUp = (): Index => (index ??= indexOf(all))

  const writable = (message: Message): Message => {
    if (own.has(message)) return message
    const copy = copyOf(message)
    own.add(copy)
    all[all.lastIndexOf(message)] = copy
    lookUp().byId.set(copy.id, copy)
    return copy
  }

  return {
    get all() {
      return all
    },
    get: (id) => lookUp().byId.get(id),
    own(id) {
      const message = lookUp().byId.get(id)
      return message && writable(message)
    },
    ownCall(toolCallId) {
      const holder = lookUp().holderOfCall.get(toolCallId)
      const message = holder === undefined ? undefined : lookUp().byId.get(holder)
      if (message?.role !== 'assistant') return undefined
      const mine = writable(message) as AssistantMessage
      const call = mine.toolCalls?.find(({ id }) => id === toolCallId)
      return call && { call, message: mine }
    },
    hasCall: (toolCallId) => lookUp().holderOfCall.has(toolCallId),
    hasResult: (toolCallId) => lookUp().answered.has(toolCallId),
    push(message) {
      own.add(message)
      lookUp().byId.set(message.id, message)
      all.push(message)
    },
    addCall(message, call) {
      ;(message.toolCalls ??= []).push(call)
      lookUp().holderOfCall.set(call.id, message.id)
    },
    insertResult(message, toolCallId) {
      const { byId, holderOfCall, answered } = lookUp()
      const caller = byId.get(holderOfCall.get(toolCallId) ?? '')
      let at = caller && holderOfCall.has(toolCallId) ? all.lastIndexOf(caller) + 1 : all.length
      while (all[at]?.role === 'tool') at++
      all.splice(at, 0, message)
      own.add(message)
      answered.add(toolCallId)
      if (byId.has(message.id)) index = undefined
      else byId.set(message.id, message)
    },
    replace(message) {
      const old = lookUp().byId.get(message.id)
      if (!old) return
      all[all.lastIndexOf(old)] = message
      own.add(message)
      // Tool calls and results go with the message that held them.
      if (old.role === message.role) lookUp().byId.set(message.id, message)
      else index = undefined
    },
    reset(messages) {
      all = [...messages]
      index = undefined
      own = new Set()
    },
  }
}

interface Index {
  readonly byId: Map<string, Message>
  /** Tool-call id to the id of the assistant message that holds the call. */
  readonly holderOfCall: Map<string, string>
  /** Tool-call ids that have a result. */
  readonly answered: Set<string>
}

/** The first message wins where a history names an id twice, as it does for clients. */
function indexOf(messages: readonly Message[]): Index {
  const byId = new Map<string, Message>()
  const holderOfCall = new Map<string, string>()
  const answered = new Set<string>()
  for (const message of messages) {
    if (!byId.has(message.id)) byId.set(message.id, message)
    if (message.role === 'tool') answered.add(message.toolCallId)
    if (message.role !== 'assistant') continue
    for (const call of message.toolCalls ?? []) {
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
