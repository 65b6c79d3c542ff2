import type { Message } from '@ag-ui/core'
import { RemoveMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { REMOVE_ALL_MESSAGES } from '@langchain/langgraph'
import { isEqual } from '../../core/json.js'
import { pairResults, toSkippedResult, unansweredCalls } from '../messages/pair-results.js'
import { readExtras } from '../messages/message-extras.js'
import { toAgui } from '../messages/to-agui.js'
import { toLangChain } from '../messages/to-langchain.js'
import {
  callKey,
  graphMessages,
  knownMessages,
  storedEntries,
  threadEntries,
  type MessageEntry,
} from './message-entries.js'

/** The input of the graph for one run. */
export type InputPlan =
  /** New messages for the reducer, which replaces messages with the same id and appends the rest. */
  | { readonly type: 'input'; readonly messages: readonly BaseMessage[] }
  /** The past was edited or cut: rewind to before that message, then run with these. */
  | { readonly type: 'rewind'; readonly before: string; readonly messages: readonly BaseMessage[] }
  /** Nothing is new: resume where the graph has stopped. */
  | { readonly type: 'continue' }
  /** Some tool calls lack their result: the graph runs when all have one. */
  | { readonly type: 'wait'; readonly toolCallIds: readonly string[] }

export interface PlanOptions {
  /** The thread, which clients see. It wins over the checkpoint. */
  readonly messages: readonly Message[]
  /** The messages in the checkpoint. Undefined if the graph has no checkpointer. */
  readonly stored: unknown
  /** Whether clients have never seen a stored message: then the thread may lack it. */
  readonly isUnseen?: (id: string) => boolean
  /**
   * Whether the graph never got a message of the thread, though it has later ones: others have added it while the
   * graph ran. Default: false, so the graph has removed the messages it lacks.
   */
  readonly isUnheard?: (id: string) => boolean
  /** Whether a tool is a client tool. An unanswered call of any other never gets a result. Default: all are. */
  readonly isClientTool?: (name: string) => boolean
  /** Whether the graph has stopped before its end. Default false. */
  readonly isUnfinished?: boolean
  /** Whether the graph answers the last message of the user anew when it has all of the thread. Default false. */
  readonly answersAnew?: boolean
}

/**
 * Plans the graph's input. With a checkpoint, that is every message after the last one that thread and
 * checkpoint share, also one that another process has added. Older messages that the graph has removed, for example for
 * a summary, do not return. The tool call identifies results, the id all other messages.
 */
export function planInput({
  messages,
  stored,
  isUnseen = () => false,
  isUnheard = () => false,
  isClientTool = () => true,
  isUnfinished = false,
  answersAnew = false,
}: PlanOptions): InputPlan {
  const known = knownMessages(messages)
  if (stored === undefined) return { type: 'input', messages: pairResults(toLangChain(graphMessages(known))) }
  const kept = storedEntries(stored, known)
  const thread = threadEntries(graphMessages(known, { kept, isUnfinished }), kept)
  const cut = firstLost(thread, kept, isUnseen)
  const lost = kept[cut]
  if (lost)
    return { type: 'rewind', before: lost.id, messages: newMessages(thread, kept.slice(0, cut), isUnheard) }
  const added = newMessages(thread, kept, isUnheard)
  if (added.length === 0) return answersAnew ? fromLastUser(thread, kept) : { type: 'continue' }
  return inputOrWait(kept, added, isClientTool)
}

/**
 * The plan to answer the last message of the user anew, as an input: a graph that just continues behind it does not stop
 * at its breakpoints.
 */
function fromLastUser(thread: readonly MessageEntry[], kept: readonly MessageEntry[]): InputPlan {
  const last = thread.at(-1)
  const stored = kept.find(({ key }) => key === last?.key)
  if (last?.shown?.role !== 'user' || !stored) return { type: 'continue' }
  return { type: 'rewind', before: stored.id, messages: [last.message] }
}

/**
 * The index of the first stored message that the thread has lost or changed; -1 if there is none. After the last shared
 * message any message counts. Before it only messages of users and assistants do: the graph may keep others there.
 */
function firstLost(
  thread: readonly MessageEntry[],
  kept: readonly MessageEntry[],
  isUnseen: (id: string) => boolean,
): number {
  const byKey = new Map(thread.map((entry) => [entry.key, entry]))
  const lastShared = kept.findLastIndex(({ key }) => byKey.has(key))
  return kept.findIndex(({ id, key, shown }, index) => {
    const now = byKey.get(key)
    if (!now && isUnseen(id)) return false
    if (now)
      return (
        shown?.role === 'user' && !isEqual(userMessageContent(now.shown), userMessageContent(asSent(shown)))
      )
    if (shown?.role === 'user' || shown?.role === 'assistant') return true
    return shown?.role === 'tool' && index > lastShared
  })
}

/** The message in a client's form: there are several ways to write the same content. */
function asSent(shown: Message): Message | undefined {
  return toAgui(toLangChain([shown])).at(-1)
}

function userMessageContent(shown: Message | undefined): unknown {
  return shown?.role === 'user' ? shown.content : undefined
}

function newMessages(
  thread: readonly MessageEntry[],
  kept: readonly MessageEntry[],
  isUnheard: (id: string) => boolean,
): BaseMessage[] {
  const byKey = new Map(kept.map((entry) => [entry.key, entry]))
  const lastShared = thread.findLastIndex(({ key }) => byKey.has(key))
  const changed = thread.flatMap((entry) => replacement(entry, byKey.get(entry.key)))
  const open = new Set(callsWithoutResult(kept))
  const added = thread.filter(({ id, key, message }, index) => {
    if (byKey.has(key)) return false
    if (index > lastShared) return true
    return ToolMessage.isInstance(message) ? open.has(key) : isUnheard(id)
  })
  if (added.length === 0) return changed
  const before = kept.map(({ message }) => message)
  const whole = pairResults([...before, ...added.map(({ message }) => message)])
  const isInPlace = before.every((message, index) => message === whole[index])
  if (isInPlace) return [...changed, ...whole.slice(before.length)]
  // Reducers append only.
  return [new RemoveMessage({ id: REMOVE_ALL_MESSAGES }), ...whole, ...changed]
}

/** The keys of the calls that lack their result. */
function callsWithoutResult(kept: readonly MessageEntry[]): string[] {
  const calls = kept.flatMap((entry) => entry.calls).map(({ shownId }) => callKey(shownId))
  const keys = new Set(kept.map(({ key }) => key))
  return calls.filter((key) => !keys.has(key))
}

/** The new version of a stored message: changed instructions, or the real result for a synthetic one. */
function replacement({ message, shown }: MessageEntry, old: MessageEntry | undefined): BaseMessage[] {
  if (!old) return []
  const isInstruction = shown?.role === 'system' || shown?.role === 'developer'
  if (isInstruction) return isEqual(shown.content, old.shown?.content) ? [] : [message]
  const isLate = readExtras(old.message).isSynthetic === true && shown?.role === 'tool'
  if (!isLate || !ToolMessage.isInstance(message) || isEqual(shown.content, old.shown?.content)) return []
  const { content, tool_call_id, name, status, additional_kwargs, response_metadata } = message
  const fields = {
    content,
    tool_call_id,
    ...(name === undefined ? {} : { name }),
    ...(status === undefined ? {} : { status }),
    additional_kwargs,
    response_metadata,
  }
  return [new ToolMessage({ ...fields, id: old.id })]
}

/** Waits if the run has only results, and other client tool calls still lack theirs. */
function inputOrWait(
  kept: readonly MessageEntry[],
  added: readonly BaseMessage[],
  isClientTool: (name: string) => boolean,
): InputPlan {
  if (!added.every((message) => ToolMessage.isInstance(message))) return { type: 'input', messages: added }
  const open = unansweredCalls([...kept.map(({ message }) => message), ...added])
  const calls = kept.findLast((entry) => entry.calls.length > 0)?.calls ?? []
  const toolCallIds = open
    .filter(({ name }) => isClientTool(name))
    .map(({ id }) => calls.find(({ graphId }) => graphId === id)?.shownId ?? id)
  if (toolCallIds.length > 0) return { type: 'wait', toolCallIds }
  return { type: 'input', messages: [...added, ...open.map(toSkippedResult)] }
}
