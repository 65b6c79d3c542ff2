import type { Message } from '@ag-ui/core'
import { checkAgent } from '../check-agent.js'
import type { Agent, HistoryEntry, HistoryRewriter, RunContext } from '../contract.js'
import { nameAt, rootOf } from '../run/address.js'
import { wrapAgent } from '../wrap-agent.js'
import { isWrittenAt, originMarkOf } from './message-origin.js'
import { rewriteHistory } from './rewrite-history.js'

/**
 * The same agent, which reads the thread as a rewriter returns it. So do all agents that it runs: those of a workflow, a
 * team or a supervisor. What they write in the run stands behind it, for each of them as usual. A rewriter inside gets
 * what the one around it returns. Keep the ids of messages: runtimes with a memory of their own recognize them by their
 * ids. `defineAgent`, `fromAdk`, `fromLangGraph` and `fromAgUi` have the option `historyRewriter` for a single agent.
 *
 * @example
 * const brief = withHistory(team, (entries) => rewriteHistory(entries.slice(-10)))
 */
export function withHistory(agent: Agent, rewriter: HistoryRewriter | undefined): Agent {
  checkAgent(agent, 'The agent of `withHistory`')
  if (!rewriter) return agent
  return wrapAgent(agent, (ctx) => agent.run(contextWith(ctx, { rewriter, isNew: newMessages(ctx) })))
}

/** The history that an agent, and those inside it, have in place of the thread's. */
interface ChosenHistory {
  readonly rewriter: HistoryRewriter
  /** Whether a message was written since the agent has begun, by itself or by an agent inside. */
  readonly isNew: (message: Message) => boolean
}

/** Inherits from `ctx` instead of copying it: members such as `state` are live. */
function contextWith(ctx: RunContext, chosen: ChosenHistory): RunContext {
  const history: RunContext['history'] = (rewrite) =>
    ctx.history((entries) => {
      const { thread, since } = chosenParts(chosen, entries)
      return rewrite
        ? rewrite([...toEntries(thread, entries), ...since])
        : [...thread, ...rewriteHistory(since)]
    })
  const delegate: RunContext['delegate'] = (agent, options) =>
    // An agent with messages of its own does not read the thread.
    ctx.delegate(options.messages ? agent : agentWith(agent, chosen), options)
  const messages = isRoot(ctx) ? threadMessages(ctx, chosen) : history()
  const members = {
    history: { value: history },
    messages: { value: messages },
    delegate: { value: delegate },
  }
  return Object.create(ctx, members) as RunContext
}

function agentWith(agent: Agent, chosen: ChosenHistory): Agent {
  return wrapAgent(agent, (ctx) => agent.run(contextWith(ctx, chosen)))
}

/** The thread as the rewriter returns it, and the entries since. */
function chosenParts({ rewriter, isNew }: ChosenHistory, entries: readonly HistoryEntry[]) {
  const since = entries.filter(({ message }) => isNew(message))
  return { thread: rewriter(entries.filter(({ message }) => !isNew(message))), since }
}

/** The entries of messages that a rewriter has returned. What it has changed to a user's message has no author. */
function toEntries(messages: readonly Message[], from: readonly HistoryEntry[]): HistoryEntry[] {
  const entries = new Map(from.map((entry) => [entry.message.id, entry]))
  return messages.map((message) => {
    const entry = entries.get(message.id)
    const hasAuthor = entry !== undefined && message.role !== 'user' && message.role !== 'system'
    return hasAuthor ? { ...entry, message } : { message, agent: undefined, isOwn: false }
  })
}

function isRoot({ span: { address } }: RunContext): boolean {
  return address === rootOf(address)
}

/** The root of a run has the thread as it is, with the subagents of its own runtime. */
function threadMessages({ messages, span }: RunContext, chosen: ChosenHistory): readonly Message[] {
  const agent = nameAt(span.address)
  const entries = messages.map((message): HistoryEntry => {
    const isOwn = message.role !== 'user' && message.role !== 'system' && message.role !== 'developer'
    return { message, agent: isOwn ? agent : undefined, isOwn }
  })
  const { thread, since } = chosenParts(chosen, entries)
  return [...thread, ...since.map(({ message }) => message)]
}

/**
 * Knows the messages that are written from now on, and those that a resumed run has written here before. The root of a
 * run does not mark its own: in a resumed run they follow the user's last message.
 */
function newMessages(ctx: RunContext): (message: Message) => boolean {
  const origin = { runId: ctx.resume.originRunId, address: ctx.span.address }
  const all = isRoot(ctx) ? ctx.messages : ctx.history((entries) => entries.map(({ message }) => message))
  const isResumed = isRoot(ctx) && origin.runId !== ctx.runId
  const end = isResumed ? all.findLastIndex(({ role }) => role === 'user') + 1 : all.length
  const known = new Set(all.slice(0, end).map(({ id }) => id))
  return (message) =>
    originMarkOf(message) === undefined ? !known.has(message.id) : isWrittenAt(message, origin)
}
