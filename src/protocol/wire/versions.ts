import type { Message, RunAgentInput } from '@ag-ui/core'
import { isRecord } from '../../core/json.js'
import type { AgUiEvent, EncryptedValueType, Peer } from '../contract.js'

/** The newest version of AG-UI that streams are sent in. Version 1.1 adds `encryptedValueType` to 1.0. */
const newestVersion = '1.1'

/** Whether a client declares AG-UI 1.1 or a newer minor version. */
export function speaksNewest({ protocolVersion }: Pick<Peer, 'protocolVersion'>): boolean {
  return /^1\.[1-9]\d*$/.test(protocolVersion ?? '')
}

/** The event as a client of 1.1 gets it: RUN_STARTED declares the version of the stream. */
export function toNewestVersion(event: AgUiEvent): AgUiEvent {
  return event.type === 'RUN_STARTED' ? { ...event, protocolVersion: newestVersion } : event
}

/** The event as AG-UI 1.0 has it: clients of 1.0 warn about each `encryptedValueType`. Never mutates the event. */
export function toVersion10(event: AgUiEvent): AgUiEvent {
  switch (event.type) {
    case 'REASONING_ENCRYPTED_VALUE':
      return withoutType(event)
    case 'MESSAGES_SNAPSHOT':
      return withoutValueTypes(event)
    case 'RUN_STARTED':
      return event.input ? { ...event, input: withoutValueTypes(event.input) } : event
    default:
      return event
  }
}

/** Leaves out the `encryptedValueType` of messages and their calls. */
export function withoutValueTypes<T extends Pick<RunAgentInput, 'messages'>>(holder: T): T {
  return { ...holder, messages: holder.messages.map(withoutMessageTypes) }
}

function withoutMessageTypes(message: Message): Message {
  const untyped = withoutType(message)
  if (untyped.role !== 'assistant' || !untyped.toolCalls?.some(hasType)) return untyped
  return { ...untyped, toolCalls: untyped.toolCalls.map(withoutType) }
}

function withoutType<T extends object>(value: T & EncryptedValueType): T {
  if (!hasType(value)) return value
  const { encryptedValueType: _, ...rest } = value
  return rest as unknown as T
}

function hasType(value: unknown): boolean {
  return isRecord(value) && 'encryptedValueType' in value
}
