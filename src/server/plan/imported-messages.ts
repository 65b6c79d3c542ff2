import type { AssistantMessage, Message, ToolCall, ToolMessage } from '@ag-ui/core'
import { importedMark, reportedMark, addMark, type RunInput } from '../../protocol/index.js'
import type { Thread } from '../../threads/contract.js'
import { isActionReport } from '../request/a2ui-action.js'
import { isPrompt, uniqueResultIds, type MessageIndex } from './stored-messages.js'

/** The history of a thread that the server does not know, as a client has it. */
export interface ImportedThread extends Pick<Thread, 'messages' | 'pendingToolCalls'> {
  /** The client's whole list, with marks. */
  readonly list: Message[]
}

/**
 * Reads a client's list as a history, up to the last message of an agent, and news after it. Marks all but the messages
 * of the user and the application as imported. Undefined when no message is an agent's: all is news then.
 */
export function importThread(
  messages: readonly Message[],
  tools: RunInput['tools'],
): ImportedThread | undefined {
  const end = messages.findLastIndex(({ role }) => role === 'assistant') + 1
  if (end === 0) return undefined
  const withUniqueId = uniqueResultIds(messages, () => false)
  const list = messages.map((message) => {
    if (isFromClient(message)) return message
    return addMark(message.role === 'tool' ? withUniqueId(message) : message, importedMark)
  })
  const history = new Map<string, Message>()
  const open = new Map<string, string>()
  for (const message of list.slice(0, end)) {
    // Models refuse a result without its call.
    if (history.has(message.id) || (message.role === 'tool' && !open.delete(message.toolCallId))) continue
    history.set(message.id, message)
    if (message.role !== 'assistant') continue
    for (const { id, function: called } of callsOf(message)) open.set(id, called.name)
  }
  const clientTools = new Set(tools.map(({ name }) => name))
  const answered = new Set(list.slice(end).map((message) => message.role === 'tool' && message.toolCallId))
  const pending = [...open].map(([id, name]) => ({ id, name }))
  return {
    list,
    messages: [...history.values()],
    pendingToolCalls: pending.filter(({ id, name }) => clientTools.has(name) || answered.has(id)),
  }
}

/** Only these are a client's own. Others it brings as an imported history or as a report. */
export function isFromClient({ role }: Message): boolean {
  return role === 'user' || role === 'system' || role === 'developer'
}

/**
 * Finds the reports of a client: calls at the end of its list that no agent has made, each with its result. So a client
 * tells the agent what happened on the page, for example A2UI with `log_a2ui_event`. Calls that follow a stored message
 * of the user are none: an agent has made them, in a branch that was cut off.
 */
export function findReports(messages: readonly Message[], index: MessageIndex): ReadonlySet<Message> {
  const reports = new Set<Message>()
  const results = new Map<string, ToolMessage>()
  let at = messages.length - 1
  for (; at >= 0; at--) {
    const message = messages[at]
    if (message?.role === 'tool') results.set(message.toolCallId, message)
    if (message?.role === 'user' && hasUnsure(reports) && index.hasId(message.id)) return none
    if (message?.role !== 'assistant') continue
    const calls = callsOf(message)
    const found = calls.flatMap(({ id }) => results.get(id) ?? [])
    if (calls.length === 0 || found.length < calls.length || isStored(message, index)) break
    for (const one of [message, ...found]) reports.add(one)
  }
  const isSure = !hasUnsure(reports) || followsAgent(messages.slice(0, at + 1), index)
  return reports.size > 0 && isSure ? reports : none
}

/** Whether an agent may have made one of them. */
function hasUnsure(reports: ReadonlySet<Message>): boolean {
  return [...reports].some((message) => !isActionReport(message))
}

const none: ReadonlySet<Message> = new Set()

/** Whether the last stored message among these is an agent's or a tool's. */
function followsAgent(messages: readonly Message[], index: MessageIndex): boolean {
  const last = messages.findLast((message) => !isPrompt(message) && isStored(message, index))
  return last !== undefined && !isFromClient(last)
}

/** Whether a message is stored, or one of its calls, or the call it answers. */
function isStored(message: Message, { hasId, hasResult, callerOf }: MessageIndex): boolean {
  const isMade = (toolCallId: string): boolean => callerOf(toolCallId) !== undefined || hasResult(toolCallId)
  if (message.role === 'tool') return isMade(message.toolCallId)
  return hasId(message.id) || (message.role === 'assistant' && callsOf(message).some(({ id }) => isMade(id)))
}

/** Marks a message of a report. */
export function toReported(message: Message): Message {
  return addMark(message, reportedMark)
}

function callsOf({ toolCalls = [] }: AssistantMessage): readonly ToolCall[] {
  return toolCalls
}
