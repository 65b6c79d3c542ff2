import type { Message, ToolMessage } from '@ag-ui/core'
import { repairMessages } from '../middlewares/repair-tool-calls.js'
import { isRejected } from './rejected.js'

/**
 * What the model is shown: the conversation it was given and what this run adds. Cleaned once when the run starts, then
 * only appended to, so that a turn costs the same in a long conversation as in a short one.
 */
export interface Conversation {
  readonly messages: readonly Message[]
  add(messages: readonly Message[]): void
  hasCall(toolCallId: string): boolean
  resultOf(toolCallId: string): ToolMessage | undefined
}

/** Calls of an answer whose tools are still at work are `openCalls`: they are not dangling. */
export function createConversation(given: readonly Message[], openCalls: ReadonlySet<string>): Conversation {
  const calls = new Set<string>()
  const results = new Map<string, ToolMessage>()
  const known = new Set<string>()
  const messages: Message[] = []
  const add = (more: readonly Message[]): void => {
    for (const message of more) {
      if (known.has(message.id)) continue
      known.add(message.id)
      messages.push(message)
      if (message.role === 'tool') results.set(message.toolCallId, message)
      if (message.role === 'assistant') for (const call of message.toolCalls ?? []) calls.add(call.id)
    }
  }
  const visible = given.every(isVisible) ? given : given.filter(isVisible)
  const settled = visible.findIndex((message) => isOpen(message, openCalls))
  if (settled === -1) add(repairMessages(visible))
  else {
    add(repairMessages(visible.slice(0, settled)))
    add(visible.slice(settled))
  }
  return {
    messages,
    add,
    hasCall: (id) => calls.has(id),
    resultOf: (id) => results.get(id),
  }
}

/** What subagents said among themselves is theirs, and what was taken back was never said. */
function isVisible(message: Message): boolean {
  return message.subagentRunId === undefined && !isRejected(message)
}

function isOpen(message: Message, openCalls: ReadonlySet<string>): boolean {
  return message.role === 'assistant' && message.toolCalls?.some(({ id }) => openCalls.has(id)) === true
}
