import { contentToText, type Message, type ToolCall } from '@ag-ui/core'
import type { Agent, HistoryEntry, HistoryRewriter, RunContext } from '../contract.js'
import { nameAt, rootOf } from '../run/address.js'
import { wrapAgent } from '../wrap-agent.js'

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

/**
 * The same agent, which reads the conversation as a rewriter returns it. For agents that read it themselves; `defineAgent`,
 * `fromAdk`, `fromLangGraph` and `fromAgUi` have the option `historyRewriter` for it. Agents that a workflow or a team runs
 * still read the whole conversation: wrap each of them. Keep the ids of messages: runtimes with a memory of their own
 * recognize them by their ids.
 *
 * @example
 * const brief = withHistory(agent, (entries) => rewriteHistory(entries.slice(-10)))
 */
export function withHistory(agent: Agent, rewriter: HistoryRewriter | undefined): Agent {
  return rewriter ? wrapAgent(agent, (ctx) => agent.run(rewrittenContext(ctx, rewriter))) : agent
}

/** Inherits from `ctx` instead of copying it: members such as `state` are live. */
function rewrittenContext(ctx: RunContext, rewriter: HistoryRewriter): RunContext {
  const { address } = ctx.span
  const history: RunContext['history'] = (other) => ctx.history(other ?? rewriter)
  // The root of a run has the thread as it is, with the subagents of its own runtime.
  const messages = address === rootOf(address) ? rewriter(threadEntries(ctx)) : history()
  return Object.create(ctx, { history: { value: history }, messages: { value: messages } }) as RunContext
}

function threadEntries({ messages, span }: RunContext): HistoryEntry[] {
  const agent = nameAt(span.address)
  return messages.map((message): HistoryEntry => {
    const isOwn = message.role !== 'user' && message.role !== 'system' && message.role !== 'developer'
    return { message, agent: isOwn ? agent : undefined, isOwn }
  })
}
