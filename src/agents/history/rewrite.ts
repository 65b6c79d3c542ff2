import { contentToText, type Message, type ToolCall } from '@ag-ui/core'

/** The tool by which models hand over to another agent. */
export const transferToolName = 'transfer_to_agent'

/** A message of the conversation, and who wrote it. */
export interface HistoryEntry {
  readonly message: Message
  /** The agent that wrote it. Undefined for people and for those who set the run up. */
  readonly agent: string | undefined
  /** Whether it was written by the agent that reads it now. */
  readonly isOwn: boolean
}

/** Makes of a conversation what an agent reads. Must not change the messages it is given. */
export type HistoryRewriter = (entries: readonly HistoryEntry[]) => readonly Message[]

/**
 * Own words stay. What other agents said and did becomes context, in the words of a user, under the same ids; what they
 * thought is left out, and so are their transfers.
 */
export const rewriteHistory: HistoryRewriter = (entries) => {
  const calls = new Map<string, ToolCall>()
  return entries.flatMap(({ message, agent, isOwn }) => {
    if (isOwn || agent === undefined) return [message]
    if (message.role === 'assistant') for (const call of message.toolCalls ?? []) calls.set(call.id, call)
    const told = tell(message, agent, calls)
    return told === '' ? [] : [{ id: message.id, role: 'user', content: `For context: ${told}` }]
  })
}

function tell(message: Message, agent: string, calls: ReadonlyMap<string, ToolCall>): string {
  if (message.role === 'assistant') {
    const said =
      message.content === undefined || message.content === '' ? [] : [`[${agent}] said: ${message.content}`]
    const called = (message.toolCalls ?? [])
      .filter(({ function: { name } }) => name !== transferToolName)
      .map(
        ({ function: { name, arguments: args } }) =>
          `[${agent}] called tool \`${name}\` with arguments: ${args}`,
      )
    return [...said, ...called].join('\n')
  }
  if (message.role === 'developer') return `[${agent}] ${message.content}`
  if (message.role !== 'tool') return ''
  const name = calls.get(message.toolCallId)?.function.name ?? 'unknown'
  if (name === transferToolName) return ''
  return `[${agent}] tool \`${name}\` returned: ${contentToText(message.content)}`
}
