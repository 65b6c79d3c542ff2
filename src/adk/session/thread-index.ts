import type { AssistantMessage, Message, ToolCall, ToolMessage, UserMessage } from '@ag-ui/core'
import { isRejected } from '../../protocol/index.js'
import { hasContent } from './message-parts.js'

/** A message of the thread with its place. */
export interface Placed<T extends Message = Message> {
  readonly message: T
  readonly position: number
}

/** What a thread has, for looking up. Instructions, activities and what was taken back are no part of the conversation. */
export interface ThreadIndex {
  /** Where a user message, an assistant message or a call stands, by its id. */
  readonly positionOf: (id: string) => number | undefined
  /** What can be brought into a session, in order. */
  readonly spoken: readonly Placed<UserMessage | AssistantMessage>[]
  readonly users: readonly Placed<UserMessage>[]
  /** The first result of each call. */
  readonly results: readonly Placed<ToolMessage>[]
  readonly callOf: (id: string) => ToolCall | undefined
  /** Where what comes after the last words of the agent begins. */
  readonly trailing: number
  /** Whether the last that was said is for the agent to answer. */
  readonly isTurnOfAgent: boolean
  /** Whether a user speaks after a place and before the trailing messages. */
  readonly hasUserAfter: (position: number) => boolean
}

// Made by the server for clients that confirm what they have shown as state. No model has made such a call.
const syntheticCall = 'confirm_changes'

/** The calls of an assistant message that a model has made. */
export function callsOf({ toolCalls = [] }: AssistantMessage): readonly ToolCall[] {
  return toolCalls.filter(({ function: { name } }) => name !== syntheticCall)
}

export function indexThread(messages: readonly Message[]): ThreadIndex {
  const positions = new Map<string, number>()
  const calls = new Map<string, ToolCall>()
  const results = new Map<string, Placed<ToolMessage>>()
  const spoken: Placed<UserMessage | AssistantMessage>[] = []
  let last: Message | undefined
  for (const [position, message] of messages.entries()) {
    if (message.role === 'user' || message.role === 'assistant') positions.set(message.id, position)
    if (message.role === 'assistant')
      for (const { id } of message.toolCalls ?? []) positions.set(id, position)
    if (isRejected(message)) continue
    if (message.role === 'tool') {
      if (!results.has(message.toolCallId)) results.set(message.toolCallId, { message, position })
      last = message
    }
    if ((message.role === 'user' || message.role === 'assistant') && isSpoken(message)) {
      spoken.push({ message, position })
      last = message
    }
    if (message.role === 'assistant') for (const call of callsOf(message)) calls.set(call.id, call)
  }
  const users = spoken.filter((placed): placed is Placed<UserMessage> => placed.message.role === 'user')
  const trailing = (spoken.findLast(({ message }) => message.role === 'assistant')?.position ?? -1) + 1
  const lastUser = users.findLast(({ position }) => position < trailing)?.position ?? -1
  return {
    positionOf: (id) => positions.get(id),
    spoken,
    users,
    results: [...results.values()],
    callOf: (id) => calls.get(id),
    trailing,
    isTurnOfAgent: last?.role === 'user' || last?.role === 'tool',
    hasUserAfter: (position) => lastUser > position,
  }
}

function isSpoken(message: UserMessage | AssistantMessage): boolean {
  if (message.role === 'user') return hasContent(message)
  return (message.content ?? '') !== '' || callsOf(message).length > 0
}
