import type { AssistantMessage, Message, ToolCall, ToolMessage, UserMessage } from '@ag-ui/core'
import { confirmChangesTool } from '../../bridge/predict-state.js'
import { isRejected } from '../../protocol/index.js'
import { isWaitingForPerson } from '../interrupts/request-calls.js'
import { eventMark } from './marks.js'
import { hasUserContent } from './import-messages.js'
import { eventFacts, eventParts, isUserContent, type SessionExchange } from './session-events.js'

/** A message of the thread with its index. */
export interface IndexedMessage<T extends Message = Message> {
  readonly message: T
  readonly position: number
}

/** Look-ups in a thread. Instructions, activities and rejected messages are no part of the conversation. */
export interface ThreadIndex {
  /** The position of a user message, an assistant message or a call, by its id. */
  readonly positionOf: (id: string) => number | undefined
  /** Messages that a session can hold, in order. */
  readonly conversation: readonly IndexedMessage<UserMessage | AssistantMessage>[]
  readonly users: readonly IndexedMessage<UserMessage>[]
  /** The first result of each call. */
  readonly results: readonly IndexedMessage<ToolMessage>[]
  readonly callOf: (id: string) => ToolCall | undefined
  /** The position after the last assistant message. */
  readonly trailing: number
  /** Whether the conversation ends with a message that the agent must answer. */
  readonly awaitsAgent: boolean
  /** Whether a user message stands after a position and before the trailing messages. */
  readonly hasUserAfter: (position: number) => boolean
}

/** The calls of an assistant message that a model has made. */
export function modelCalls({ toolCalls = [] }: AssistantMessage): readonly ToolCall[] {
  return toolCalls.filter(({ function: { name } }) => name !== confirmChangesTool)
}

export function indexThread(messages: readonly Message[]): ThreadIndex {
  const positions = new Map<string, number>()
  const calls = new Map<string, ToolCall>()
  const results = new Map<string, IndexedMessage<ToolMessage>>()
  const conversation: IndexedMessage<UserMessage | AssistantMessage>[] = []
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
    if ((message.role === 'user' || message.role === 'assistant') && !isEmptyMessage(message)) {
      conversation.push({ message, position })
      last = message
    }
    if (message.role === 'assistant') for (const call of modelCalls(message)) calls.set(call.id, call)
  }
  const users = conversation.filter(
    (entry): entry is IndexedMessage<UserMessage> => entry.message.role === 'user',
  )
  const trailing = (conversation.findLast(({ message }) => message.role === 'assistant')?.position ?? -1) + 1
  const lastUser = users.findLast(({ position }) => position < trailing)?.position ?? -1
  return {
    positionOf: (id) => positions.get(id),
    conversation,
    users,
    results: [...results.values()],
    callOf: (id) => calls.get(id),
    trailing,
    awaitsAgent: last?.role === 'user' || last?.role === 'tool',
    hasUserAfter: (position) => lastUser > position,
  }
}

function isEmptyMessage(message: UserMessage | AssistantMessage): boolean {
  if (message.role === 'user') return !hasUserContent(message)
  return (message.content ?? '') === '' && modelCalls(message).length === 0
}

/** A call in a session. */
interface StoredCall {
  readonly name: string
  readonly author: string
  /** The number of its exchange. */
  readonly exchange: number
}

/** Look-ups in a session. */
export interface SessionIndex {
  /** Whether the session has a user message, or the text of an assistant message. */
  readonly has: (messageId: string) => boolean
  /** A call, or a request of ADK to a person. */
  readonly callOf: (id: string) => StoredCall | undefined
  readonly isAnswered: (callId: string) => boolean
  /** Whether neither the user nor the model of its agent has gone on since a call. */
  readonly isLatest: (call: StoredCall) => boolean
}

export function indexSession(exchanges: readonly SessionExchange[]): SessionIndex {
  const messages = new Set<string>()
  const calls = new Map<string, StoredCall>()
  const answered = new Set<string>()
  const lastUser = exchanges.findLastIndex(([start]) => start && eventParts(start).some(isUserContent))
  const lastAnswers = new Map<string, number>()
  exchanges.forEach((events, exchange) => {
    for (const event of events) {
      const { author = '', content } = event
      if (content?.role === 'model') lastAnswers.set(author, exchange)
      const { userIds, textIds } = eventFacts(event)
      for (const id of [...userIds, ...textIds]) messages.add(id)
      for (const id of eventMark(event).lateCallIds ?? []) answered.add(id)
      for (const { functionCall, functionResponse } of eventParts(event)) {
        const { id, name = '' } = functionCall ?? {}
        if (id !== undefined) calls.set(id, { name, author, exchange })
        const answeredId = functionResponse?.id
        if (answeredId !== undefined && !isWaitingForPerson(answeredId, event)) answered.add(answeredId)
      }
    }
  })
  return {
    has: (id) => messages.has(id),
    callOf: (id) => calls.get(id),
    isAnswered: (id) => answered.has(id),
    isLatest: ({ author, exchange }) =>
      exchange >= lastUser && exchange >= (lastAnswers.get(author) ?? exchange),
  }
}
