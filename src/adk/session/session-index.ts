import type { Event } from '@google/adk'
import { markOf } from '../mark.js'
import { factsOf, partsOf } from './event-facts.js'
import type { Turn } from './turns.js'

/** A call that a session has. */
interface StoredCall {
  readonly name: string
  readonly author: string
  readonly isInLastTurn: boolean
}

/** What a session has, for looking up. */
export interface SessionIndex {
  /** Whether it has a message of a user, or the text of a message of an agent. */
  readonly has: (messageId: string) => boolean
  /** A call, or a question of ADK. */
  readonly callOf: (id: string) => StoredCall | undefined
  readonly isAnswered: (callId: string) => boolean
}

export function indexSession(turns: readonly Turn[]): SessionIndex {
  const messages = new Set<string>()
  const calls = new Map<string, StoredCall>()
  const answered = new Set<string>()
  turns.forEach((turn, index) => {
    const isInLastTurn = index === turns.length - 1
    for (const event of turn) {
      const { userIds, textIds } = factsOf(event)
      for (const id of [...userIds, ...textIds]) messages.add(id)
      for (const id of markOf(event).lateCallIds ?? []) answered.add(id)
      addCalls(event, { calls, answered, isInLastTurn })
    }
  })
  return {
    has: (id) => messages.has(id),
    callOf: (id) => calls.get(id),
    isAnswered: (id) => answered.has(id),
  }
}

interface CallIndex {
  readonly calls: Map<string, StoredCall>
  readonly answered: Set<string>
  readonly isInLastTurn: boolean
}

function addCalls(event: Event, { calls, answered, isInLastTurn }: CallIndex): void {
  for (const { functionCall, functionResponse } of partsOf(event)) {
    const { id, name = '' } = functionCall ?? {}
    if (id !== undefined) calls.set(id, { name, author: event.author ?? '', isInLastTurn })
    if (functionResponse?.id !== undefined) answered.add(functionResponse.id)
  }
}
