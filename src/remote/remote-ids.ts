import type { Message } from '@ag-ui/core'
import { stableHash } from '../core/ids.js'
import { isRecord } from '../core/json.js'
import { rewriteEventName, type AgentEvent, type EventOf } from '../protocol/index.js'

export interface RemoteIdsOptions {
  readonly runId: string
  readonly address: string
  /** The span that the agent runs in. */
  readonly subagentRunId: string | undefined
  /** The conversation as the agent sees it. */
  readonly messages: readonly Message[]
  /** Claims an id for a tool call: the wanted one if it is free. */
  readonly callId: (wanted: string) => string
}

/**
 * Maps the ids that the agent uses to those of this run, where others may use the same. A tool call whose id is taken gets
 * a suffix made of the agent's address: so every later run can map it back without a store.
 */
export class RemoteIds {
  readonly #options: RemoteIdsOptions
  readonly #suffix: string
  /** Local ids of tool calls by remote ones. */
  readonly #callIds = new Map<string, string>()

  constructor(options: RemoteIdsOptions) {
    this.#options = options
    this.#suffix = `~${stableHash(options.address).slice(0, 8)}`
    for (const id of options.messages.flatMap(toolCallIds)) this.#callIds.set(this.#remoteCallId(id), id)
  }

  /** Contains the run id too: an agent may use an id again, and each interrupt takes one answer. */
  interruptId(remoteId: string): string {
    const { runId, address } = this.#options
    return `int-${stableHash([runId, address, remoteId].join('\n'))}`
  }

  /** Below the agent's own span. Without a remote id, the agent's own span. */
  spanId(remoteId: string | undefined): string | undefined {
    const { subagentRunId } = this.#options
    if (remoteId === undefined || subagentRunId === undefined) return remoteId ?? subagentRunId
    return `${subagentRunId}/${remoteId}`
  }

  readonly callId = (remoteId: string): string => this.#callIds.get(remoteId) ?? `${remoteId}${this.#suffix}`

  /** Messages with the ids that the agent knows. */
  toRemoteMessages(messages: readonly Message[]): readonly Message[] {
    if (!messages.some((message) => message.role === 'tool' || toolCallIds(message).length > 0))
      return messages
    return messages.map((message) => {
      if (message.role === 'tool') return { ...message, toolCallId: this.#remoteCallId(message.toolCallId) }
      if (message.role !== 'assistant' || !message.toolCalls) return message
      const toolCalls = message.toolCalls.map((call) => ({ ...call, id: this.#remoteCallId(call.id) }))
      return { ...message, toolCalls }
    })
  }

  /** An event of the agent with the ids of this run. */
  toLocalEvent(event: AgentEvent): AgentEvent {
    return this.#withLocalSpan(this.#withLocalIds(event))
  }

  #withLocalIds(event: AgentEvent): AgentEvent {
    switch (event.type) {
      case 'TOOL_CALL_START':
      case 'TOOL_CALL_CHUNK':
        return event.toolCallId === undefined
          ? event
          : withToolCallId(event, this.#claimCallId(event.toolCallId))
      case 'TOOL_CALL_ARGS':
      case 'TOOL_CALL_END':
      case 'TOOL_CALL_RESULT':
        return withToolCallId(event, this.callId(event.toolCallId))
      case 'REASONING_ENCRYPTED_VALUE':
        return event.subtype === 'tool-call' ? { ...event, entityId: this.callId(event.entityId) } : event
      case 'SUBAGENT_STARTED': {
        const parentSubagentRunId = this.spanId(event.parentSubagentRunId)
        const { parentToolCallId: call } = event
        return {
          ...event,
          ...(parentSubagentRunId === undefined ? {} : { parentSubagentRunId }),
          ...(call === undefined ? {} : { parentToolCallId: this.callId(call) }),
        }
      }
      case 'SUBAGENT_FINISHED': {
        const ids = event.outcome?.type === 'suspended' ? event.outcome.interruptIds : undefined
        if (!ids) return event
        const interruptIds = ids.map((id) => this.interruptId(id))
        return { ...event, outcome: { type: 'suspended', interruptIds } }
      }
      case 'CUSTOM':
        return event.name === rewriteEventName ? this.#withLocalCalls(event) : event
      default:
        return event
    }
  }

  /** Rewritten messages with the ids of this run. The run stream checks them. */
  #withLocalCalls(event: EventOf<'CUSTOM'>): AgentEvent {
    const value: unknown = event.value
    if (!isRecord(value) || !Array.isArray(value.messages)) return event
    const toLocal = (one: unknown, member: string): unknown =>
      isRecord(one) && typeof one[member] === 'string' ? { ...one, [member]: this.callId(one[member]) } : one
    const messages = value.messages.map((message: unknown) => {
      if (!isRecord(message)) return message
      if (!Array.isArray(message.toolCalls)) return toLocal(message, 'toolCallId')
      return { ...message, toolCalls: message.toolCalls.map((call: unknown) => toLocal(call, 'id')) }
    })
    return { ...event, value: { ...value, messages } }
  }

  #withLocalSpan(event: AgentEvent): AgentEvent {
    const remoteId = 'subagentRunId' in event ? event.subagentRunId : undefined
    const subagentRunId = remoteId === undefined ? undefined : this.spanId(remoteId)
    return subagentRunId === remoteId ? event : ({ ...event, subagentRunId } as AgentEvent)
  }

  #claimCallId(remoteId: string): string {
    const { callId } = this.#options
    const known = this.#callIds.get(remoteId)
    if (known !== undefined) return known
    const claimed = callId(remoteId) === remoteId ? remoteId : callId(`${remoteId}${this.#suffix}`)
    this.#callIds.set(remoteId, claimed)
    return claimed
  }

  #remoteCallId(id: string): string {
    return id.endsWith(this.#suffix) ? id.slice(0, -this.#suffix.length) : id
  }
}

function withToolCallId<E extends { readonly toolCallId?: string }>(event: E, toolCallId: string): E {
  return event.toolCallId === toolCallId ? event : { ...event, toolCallId }
}

function toolCallIds(message: Message): string[] {
  return message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : []
}
