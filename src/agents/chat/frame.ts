import type { Message } from '@ag-ui/core'
import type { AgentEvent } from '../../protocol/index.js'
import type { RunContext, HistoryRewriter } from '../contract.js'
import type { Conversation } from './conversation.js'
import type { Batch } from './tool-batch.js'

/** What is saved of the loop when the run pauses or is stopped: where it stands. JSON. */
export interface ChatFrame {
  /** How often the model has answered. */
  readonly iteration: number
  /** How often of these do not count for the limit: those before the client had its turn. */
  readonly uncounted: number
  /** What this agent has added to its conversation. */
  readonly added: readonly Message[]
  /** The calls of the last answer, while tools are at work. */
  readonly batch?: Batch
  /** The last answer, which calls nothing, while it is made the end of the agent. */
  readonly answer?: string
  /** Messages of answers that were not finished. Those were, or will be, given again from their beginning. */
  readonly cutOff?: readonly string[]
}

/** Sends results again that nobody got: the run was stopped while they were on their way. */
export function* sendLost({ added }: ChatFrame, ctx: RunContext): Generator<AgentEvent> {
  const messages = ctx.history(asTheyAre)
  const calls = messages.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []))
  const open = new Set(calls.map(({ id }) => id))
  for (const message of messages) if (message.role === 'tool') open.delete(message.toolCallId)
  for (const message of added) {
    if (message.role !== 'tool' || !open.has(message.toolCallId)) continue
    const { id, role: _role, ...result } = message
    yield { type: 'TOOL_CALL_RESULT', messageId: id, ...result }
  }
}

const asTheyAre: HistoryRewriter = (entries) => entries.map(({ message }) => message)

/** The messages of an answer under way. While a model answers nobody else is heard, so they are all that is new. */
export function cutOffIn(history: readonly Message[], conversation: Conversation): string[] {
  const known = new Set(Array.from(conversation.view()(), ({ id }) => id))
  return history.filter(({ id, role }) => role !== 'user' && !known.has(id)).map(({ id }) => id)
}
