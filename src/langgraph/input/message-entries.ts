import type { Message } from '@ag-ui/core'
import { AIMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { countingMessages } from '../../protocol/index.js'
import { RepeatedCalls, callerIndex } from '../messages/call-ids.js'
import { withoutShownOnly } from '../messages/shown-only.js'
import { readGraphMessages, toAgui } from '../messages/to-agui.js'
import { toLangChain } from '../messages/to-langchain.js'
import { fromLangChainCalls } from '../messages/tool-calls.js'

/** A message of the thread or of the checkpoint. */
export interface MessageEntry {
  /** The id in the graph. */
  readonly id: string
  /** The key that thread and checkpoint share: of a result its tool call, of all others the id. */
  readonly key: string
  readonly message: BaseMessage
  /** The AG-UI message, without its reasoning. */
  readonly shown: Message | undefined
  /** The calls of a message of the checkpoint. */
  readonly calls: readonly EntryCall[]
}

interface EntryCall {
  /** The id in the graph, where several calls may share it. */
  readonly graphId: string
  /** The id in the thread. */
  readonly shownId: string
}

/** The messages of the thread that the graph or one inside it may have: no rejected ones, and none only shown to people. */
export function knownMessages(messages: readonly Message[]): readonly Message[] {
  return withoutShownOnly(countingMessages(messages))
}

/**
 * The messages of the thread that are the graph's own: not those of subagents, but those of graphs inside it that share
 * its messages. The checkpoint shows which they are. While a graph is unfinished it shows too little: graphs inside it
 * give their messages back when they are done. So there, all count that have results of tools since the user spoke:
 * a tool that was executed must not be executed again. Unless a tool of the graph has called them.
 */
export function graphMessages(
  known: readonly Message[],
  { kept = [], isUnfinished = false }: { kept?: readonly MessageEntry[]; isUnfinished?: boolean } = {},
): readonly Message[] {
  const keys = new Set(kept.map(({ key }) => key))
  const spans = isUnfinished ? spansWithNewResults(known, keys) : new Set<string>()
  return known.filter(
    (message) =>
      message.subagentRunId === undefined || spans.has(message.subagentRunId) || keys.has(threadKey(message)),
  )
}

function spansWithNewResults(known: readonly Message[], keys: ReadonlySet<string>): ReadonlySet<string> {
  const lastUser = known.findLastIndex(({ role }) => role === 'user')
  const results = known
    .slice(lastUser + 1)
    .filter((message) => message.role === 'tool' && !keys.has(threadKey(message)))
  // A call of the graph itself that has its result since: its tool may have used another graph.
  if (results.some(({ subagentRunId }) => subagentRunId === undefined)) return new Set()
  return new Set(results.flatMap(({ subagentRunId }) => subagentRunId ?? []))
}

function threadKey(message: Message): string {
  return message.role === 'tool' ? callKey(message.toolCallId) : messageKey(message.id)
}

/** The messages of the checkpoint, compared with those of the thread. */
export function storedEntries(stored: unknown, thread: readonly Message[]): MessageEntry[] {
  const repeated = new RepeatedCalls(thread)
  const shownId = (graphId: string, messageId: string | undefined): string =>
    repeated.idIn(messageId, graphId) ?? graphId
  const all = readGraphMessages(stored)
  const messages = all.map(({ message }) => message)
  return all.map(({ id, message }, index) => {
    const shown = toAgui([message]).at(-1)
    const made = AIMessage.isInstance(message) ? fromLangChainCalls(id, message) : []
    const calls = made.map((call) => ({ graphId: call.id, shownId: shownId(call.id, id) }))
    const key = ToolMessage.isInstance(message)
      ? callKey(shownId(message.tool_call_id, all[callerIndex(messages, index)]?.id))
      : messageKey(id)
    return { id, key, message, shown, calls }
  })
}

/** The messages of the thread. Results name their calls as the checkpoint does. */
export function threadEntries(thread: readonly Message[], kept: readonly MessageEntry[]): MessageEntry[] {
  const graphIds = new Map(
    kept.flatMap(({ calls }) => calls).map(({ shownId, graphId }) => [shownId, graphId] as const),
  )
  return toLangChain(thread).map((message) => {
    const id = message.id ?? ''
    const shown = toAgui([message]).at(-1)
    if (!ToolMessage.isInstance(message)) return { id, key: messageKey(id), message, shown, calls: [] }
    const key = callKey(message.tool_call_id)
    message.tool_call_id = graphIds.get(message.tool_call_id) ?? message.tool_call_id
    return { id, key, message, shown, calls: [] }
  })
}

function messageKey(id: string): string {
  return `message ${id}`
}

export function callKey(toolCallId: string): string {
  return `call ${toolCallId}`
}
