import type { Agent, HistoryEntry, HistoryRewriter, RunContext } from '../contract.js'
import { nameAt, rootOf } from '../run/address.js'
import { wrapAgent } from '../wrap-agent.js'

/**
 * The same agent, which reads the conversation as a rewriter returns it. For agents of any kind; `defineAgent`, `fromAdk`,
 * `fromLangGraph` and `fromAgUi` have the option `historyRewriter` for it. Keep the ids of messages: runtimes with a memory
 * of their own recognize them by their ids.
 *
 * @example
 * const brief = withHistory(workflow, (entries) => rewriteHistory(entries.slice(-10)))
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
