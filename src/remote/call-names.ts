import type { Message } from '@ag-ui/core'
import { stableHash } from '../core/hash.js'
import type { AgentEvent } from '../protocol/index.js'

export interface CallNamesOptions {
  readonly address: string
  /** The conversation as this place sees it. */
  readonly messages: readonly Message[]
  /** An id for a call that no other has: the wanted one if it is free. */
  readonly callId: (wanted: string) => string
}

/**
 * Keeps an agent's tool calls apart from those of others in the tree, which may well have the same ids: models count them.
 * A call whose id is taken gets one that tells the place, so that it can be told back in any later run, without anything
 * kept in between.
 */
export interface CallNames {
  /** The conversation with the ids as the agent knows them. */
  readonly sent: readonly Message[]
  /** The event with the ids as they are here. */
  readonly placed: (event: AgentEvent) => AgentEvent
  /** The id that a call of the agent has here. */
  readonly here: (remoteId: string) => string
}

export function createCallNames({ address, messages, callId }: CallNamesOptions): CallNames {
  const mark = `~${stableHash(address).slice(0, 8)}`
  const known = new Map<string, string>()
  for (const id of messages.flatMap(callsIn)) known.set(thereOf(id, mark), id)

  const here = (id: string): string => known.get(id) ?? `${id}${mark}`

  function claim(id: string): string {
    const claimed = known.get(id) ?? (callId(id) === id ? id : callId(`${id}${mark}`))
    known.set(id, claimed)
    return claimed
  }

  return {
    sent: messages.some((message) => callsIn(message).length > 0 || message.role === 'tool')
      ? messages.map((message) => toThere(message, mark))
      : messages,
    here,
    placed(event) {
      switch (event.type) {
        case 'TOOL_CALL_START':
        case 'TOOL_CALL_CHUNK':
          return event.toolCallId === undefined ? event : withId(event, claim(event.toolCallId))
        case 'TOOL_CALL_ARGS':
        case 'TOOL_CALL_END':
        case 'TOOL_CALL_RESULT':
          return withId(event, here(event.toolCallId))
        case 'SUBAGENT_STARTED': {
          const { parentToolCallId: id } = event
          return id === undefined ? event : { ...event, parentToolCallId: here(id) }
        }
        case 'REASONING_ENCRYPTED_VALUE':
          return event.subtype === 'tool-call' ? { ...event, entityId: here(event.entityId) } : event
        default:
          return event
      }
    },
  }
}

function withId<E extends { readonly toolCallId?: string }>(event: E, toolCallId: string): E {
  return event.toolCallId === toolCallId ? event : { ...event, toolCallId }
}

function callsIn(message: Message): string[] {
  return message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : []
}

function thereOf(id: string, mark: string): string {
  return id.endsWith(mark) ? id.slice(0, -mark.length) : id
}

function toThere(message: Message, mark: string): Message {
  if (message.role === 'tool') return { ...message, toolCallId: thereOf(message.toolCallId, mark) }
  if (message.role !== 'assistant' || !message.toolCalls) return message
  return { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, id: thereOf(call.id, mark) })) }
}
