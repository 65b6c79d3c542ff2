import type { Message, ToolMessage } from '@ag-ui/core'
import { isReported, isRewritten } from '../../protocol/index.js'
import type { RunRecord, Thread } from '../../threads/contract.js'
import { isEdited } from './edited-message.js'
import { findReports, isFromClient, toReported } from './imported-messages.js'
import { isConversation, isPrompt, uniqueResultIds, type MessageIndex } from './stored-messages.js'

/** What a client's messages say, compared with the stored ones. */
export interface MessageReading {
  /** Stored positions of the messages it has, each once, in its order. Without reasoning and activity. */
  readonly known: readonly number[]
  /** Whether it has any stored message at all. */
  readonly knowsAny: boolean
  /** New messages of the user and the application, and reports, in order. */
  readonly fresh: readonly Message[]
  /** Whether a new user message follows all known ones. */
  readonly endsWithUser: boolean
  /** Results of pending tool calls, one for each call. */
  readonly results: readonly ToolMessage[]
  /** The first edited user message. The cut removes later ones anyway. */
  readonly edit: Edit | undefined
  /** The last message, leaving out reasoning and activity. */
  readonly newest: Message | undefined
}

interface Edit {
  /** The position of the stored message. */
  readonly position: number
  readonly message: Message
  /** How many of `fresh` stand before it. */
  readonly after: number
}

interface ReadOptions extends Pick<Thread, 'pendingToolCalls' | 'interrupts'> {
  /** Whether the client speaks AG-UI before 1.0. */
  readonly isLegacy?: boolean | undefined
}

/** Reads a client's messages once, from the first to the last. */
export function readClientMessages(
  messages: readonly Message[],
  index: MessageIndex,
  { isLegacy = false, ...thread }: ReadOptions,
): MessageReading {
  const repeated = findRepeatedPrompts(messages, index)
  const reports = findReports(messages, index)
  const pending = findPendingCalls(thread)
  const withUniqueId = lazyResultIds(messages, index)
  const results: ToolMessage[] = []
  const known: number[] = []
  const isKnown = new Uint8Array(index.messages.length)
  const fresh = new Map<string, Message>()
  const newest = messages.findLast(isConversation)
  let [knowsAny, endsWithUser] = [false, false]
  let edit: Edit | undefined
  let next = 0
  for (const message of messages) {
    const position = index.positionOf(message, next)
    if (position !== undefined) {
      next = position + 1
      const stored = index.messages[position]
      knowsAny = true
      if (!stored || !isConversation(stored) || isKnown[position] === 1) continue
      isKnown[position] = 1
      known.push(position)
      endsWithUser = false
      const how = { isLegacy, isNewest: message === newest }
      if (position < (edit?.position ?? Infinity) && isEdited(stored, message, how))
        edit = { position, message, after: fresh.size }
    } else if (reports.has(message)) {
      const reported = toReported(message.role === 'tool' ? withUniqueId(message) : message)
      fresh.set(reported.id, reported)
    } else if (message.role === 'tool') {
      if (pending.delete(message.toolCallId)) results.push(withUniqueId(message))
    } else if (isFromClient(message) && !fresh.has(message.id) && !repeated.has(message)) {
      fresh.set(message.id, message)
      endsWithUser ||= message.role === 'user'
    }
  }
  return {
    known,
    knowsAny,
    fresh: [...fresh.values()],
    endsWithUser,
    results,
    edit,
    newest,
  }
}

/** Prompts in front that are stored under another id: some clients give them new ids for each request. */
function findRepeatedPrompts(
  messages: readonly Message[],
  { messages: stored }: MessageIndex,
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

/** The calls that take a result. A call with an open interrupt is answered by `resume` instead. */
function findPendingCalls({ pendingToolCalls, interrupts }: Omit<ReadOptions, 'isLegacy'>): Set<string> {
  const pending = new Set(pendingToolCalls.map(({ id }) => id))
  for (const { toolCallId } of interrupts) if (toolCallId !== undefined) pending.delete(toolCallId)
  return pending
}

/** Counts ids only if there are results. */
function lazyResultIds(
  messages: readonly Message[],
  { hasId }: MessageIndex,
): (result: ToolMessage) => ToolMessage {
  let withUniqueId: ((result: ToolMessage) => ToolMessage) | undefined
  return (result) => (withUniqueId ??= uniqueResultIds(messages, hasId))(result)
}

interface CutOptions {
  /** Whether the request is that of the latest run, sent again. */
  readonly isRepeated: boolean
  /** How many messages were stored when the request came. It cannot mean to cut off later ones. */
  readonly messagesOnArrival: number
}

/**
 * How many stored messages stay when a client edits, regenerates, or returns to an earlier message. Undefined when it
 * does none of these: it is up to date, or behind, or has dropped old messages from the front of its list.
 */
export function findForkCut(
  reading: MessageReading,
  index: MessageIndex,
  { isRepeated, messagesOnArrival }: CutOptions,
): number | undefined {
  const { known, edit, endsWithUser } = reading
  const edited = edit && index.messages[edit.position]
  // The same request again: the hook may have changed its message in another way this time.
  if (edit && edited && !(isRepeated && isRewritten(edited))) return edit.position
  const last = known.at(-1)
  if (last === undefined || known.length >= index.conversation.length) return undefined
  // Prompts do not count: some clients put them in front of anything. Nor do reports, which some clients do not keep.
  const counts = (position: number): boolean => {
    const message = index.messages[position]
    return message !== undefined && !isPrompt(message) && !isReported(message)
  }
  const stored = index.conversation.filter((position) => position < messagesOnArrival && counts(position))
  const sent = known.filter(counts)
  const missing = stored[sent.length]
  if (sent.length === 0 || missing === undefined || last > missing) return undefined
  if (!sent.every((position, n) => position === stored[n])) return undefined
  const next = index.messages[missing]
  const isCut = endsWithUser || (!isRepeated && isRegeneration(reading, index.messages[last], next))
  return isCut ? last + 1 : undefined
}

/**
 * Whether the list ends with a stored message that an agent answers. A second result for its call does not count, nor
 * one of several results: that is an older request.
 */
function isRegeneration(
  { newest }: MessageReading,
  last: Message | undefined,
  next: Message | undefined,
): boolean {
  if (newest?.id !== last?.id) return false
  return last?.role === 'user' || (last?.role === 'tool' && next?.role !== 'tool')
}

/** Whether the request is that of the latest run, sent again. Trying a failed run again does not count. */
export function isRepetition(thread: Thread | undefined, runId: string): boolean {
  return thread?.run?.runId === runId && !isUnsuccessful(thread.run)
}

/** Whether a run was stopped, failed or lost. */
export function isUnsuccessful(run: RunRecord | undefined): boolean {
  return run?.status === 'failed' || run?.status === 'cancelled' || run?.status === 'lost'
}
