import type { Message, ToolMessage } from '@ag-ui/core'
import type { Thread } from '../../threads/contract.js'
import { isEdited } from './is-edited.js'
import { isPrompt, isSpoken, type StoredIndex } from './message-index.js'

/** What a client's list of messages tells someone who has the stored ones. */
export interface RequestReading {
  /** Stored positions of the messages it has, each once, in its order. Without reasoning and activity. */
  readonly known: readonly number[]
  /** Whether it has any stored message at all. */
  readonly knowsAny: boolean
  /** What people and the application have said since, in order. */
  readonly fresh: readonly Message[]
  /** Whether a person has said something behind all that is known. */
  readonly hasNewTurn: boolean
  /** Results that the thread waits for, one for each call. */
  readonly results: readonly ToolMessage[]
  /** The first stored user message that has other content now. An edit of a later one goes with the cut. */
  readonly edit: Edit | undefined
  /** Its last message, leaving out reasoning and activity. */
  readonly newest: Message | undefined
}

interface Edit {
  /** Of the stored message. */
  readonly position: number
  readonly message: Message
  /** How many of `fresh` stand before it. */
  readonly after: number
}

export interface ReadOptions {
  readonly thread: Thread | undefined
  /** Whether the client is one from before 1.0. */
  readonly isLegacy?: boolean | undefined
}

/** Reads a client's messages once, from the first to the last. */
export function readRequest(
  messages: readonly Message[],
  index: StoredIndex,
  { thread, isLegacy = false }: ReadOptions,
): RequestReading {
  const repeated = repeatedPrompts(messages, index)
  const results = createResults(messages, index, thread)
  const known: number[] = []
  const isKnown = new Uint8Array(index.messages.length)
  const fresh = new Map<string, Message>()
  let [knowsAny, hasNewTurn] = [false, false]
  let edit: Edit | undefined
  let next = 0
  for (const message of messages) {
    const position = index.positionOf(message, next)
    if (position !== undefined) {
      next = position + 1
      const stored = index.messages[position]
      knowsAny = true
      if (!stored || !isSpoken(stored) || isKnown[position] === 1) continue
      isKnown[position] = 1
      known.push(position)
      hasNewTurn = false
      if (position < (edit?.position ?? Infinity) && isEdited(stored, message, isLegacy))
        edit = { position, message, after: fresh.size }
    } else if (message.role === 'tool') results.offer(message)
    else if (isDelivered(message) && !fresh.has(message.id) && !repeated.has(message)) {
      fresh.set(message.id, message)
      hasNewTurn ||= message.role === 'user'
    }
  }
  return {
    known,
    knowsAny,
    fresh: [...fresh.values()],
    hasNewTurn,
    results: results.taken(),
    edit,
    newest: messages.findLast(isSpoken),
  }
}

/** Nobody speaks in the agent's name. */
function isDelivered({ role }: Message): boolean {
  return role === 'user' || role === 'system' || role === 'developer'
}

/** What stands in front of a conversation and is stored under another id: some clients name it anew for each request. */
function repeatedPrompts(
  messages: readonly Message[],
  { messages: stored }: StoredIndex,
): ReadonlySet<Message> {
  const end = messages.findIndex((message) => !isPrompt(message))
  if (end <= 0 || stored.length === 0) return none
  const known = new Set(stored.filter(isPrompt).map(promptText))
  return new Set(messages.slice(0, end).filter((message) => known.has(promptText(message))))
}

const none: ReadonlySet<Message> = new Set()

function promptText({ role, content }: Message): string {
  return JSON.stringify([role, content])
}

/** Takes the first result for each call that waits for one. Questions are answered by `resume`, not by results. */
function createResults(messages: readonly Message[], index: StoredIndex, thread: Thread | undefined) {
  const waiting = new Set(thread?.pendingToolCalls.map(({ id }) => id))
  for (const { toolCallId } of thread?.interrupts ?? [])
    if (toolCallId !== undefined) waiting.delete(toolCallId)
  const taken = new Map<string, ToolMessage>()
  return {
    offer(message: ToolMessage): void {
      if (waiting.delete(message.toolCallId)) taken.set(message.toolCallId, message)
    },
    taken: (): ToolMessage[] => withOwnIds([...taken.values()], messages, index),
  }
}

/** Some clients name a result as they name its call or the message with the call. Here an id names one message. */
function withOwnIds(
  results: readonly ToolMessage[],
  messages: readonly Message[],
  index: StoredIndex,
): ToolMessage[] {
  if (results.length === 0) return []
  const uses = new Map<string, number>()
  for (const { id } of messages) uses.set(id, (uses.get(id) ?? 0) + 1)
  return results.map((result) => {
    if (!index.hasId(result.id) && uses.get(result.id) === 1) return result
    let id = `${result.toolCallId}-result`
    for (let n = 2; index.hasId(id) || uses.has(id); n++) id = `${result.toolCallId}-result-${n}`
    uses.set(id, 1)
    return { ...result, id }
  })
}
