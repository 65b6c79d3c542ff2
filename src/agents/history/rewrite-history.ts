import { contentToText, type Message, type ToolCall } from '@ag-ui/core'
import type { HistoryEntry, HistoryRewriter } from '../contract.js'

/** The tool by which models transfer to another agent. */
export const transferToolName = 'transfer_to_agent'

/** The same for models of other runtimes. ADK has a tool of the first name itself. */
export const teamToolName = 'transfer_in_team'

function isTransfer(toolName: string): boolean {
  return toolName === transferToolName || toolName === teamToolName
}

/**
 * Keeps an agent's own messages. Messages and calls of other agents become context, in user messages with the same ids;
 * their reasoning and their transfers are left out.
 */
export const rewriteHistory: HistoryRewriter = (entries) => {
  const rewrite = createEntryRewriter()
  return entries.flatMap((entry) => rewrite(entry) ?? [])
}

/** Rewrites entry by entry, oldest first. Returns undefined for one that is left out. */
export function createEntryRewriter(): (entry: HistoryEntry) => Message | undefined {
  const calls = new Map<string, ToolCall>()
  return ({ message, agent, isOwn }) => {
    if (isOwn || agent === undefined) return message
    if (message.role === 'assistant') for (const call of message.toolCalls ?? []) calls.set(call.id, call)
    const context = toContext(message, agent, calls)
    return context === '' ? undefined : { id: message.id, role: 'user', content: `For context: ${context}` }
  }
}

function toContext(message: Message, agent: string, calls: ReadonlyMap<string, ToolCall>): string {
  if (message.role === 'assistant') {
    const text =
      message.content === undefined || message.content === '' ? [] : [`[${agent}] said: ${message.content}`]
    const called = (message.toolCalls ?? [])
      .filter(({ function: { name } }) => !isTransfer(name))
      .map(
        ({ function: { name, arguments: args } }) =>
          `[${agent}] called tool \`${name}\` with arguments: ${args}`,
      )
    return [...text, ...called].join('\n')
  }
  if (message.role === 'developer') return `[${agent}] ${message.content}`
  if (message.role !== 'tool') return ''
  const name = calls.get(message.toolCallId)?.function.name ?? 'unknown'
  if (isTransfer(name)) return ''
  return `[${agent}] tool \`${name}\` returned: ${contentToText(message.content)}`
}
