import type { Metadata } from '@ag-ui/core'
import type { AgentEvent, EventOf } from '../protocol/index.js'
import type { MessageKind } from './message-writer.js'
import { spanTag } from './spans.js'

/** A message that clients were shown and that no longer counts. */
export interface RejectedMessage {
  readonly id: string
  readonly kind: MessageKind
  /** Default `assistant`. */
  readonly role?: EventOf<'TEXT_MESSAGE_START'>['role']
  readonly subagentRunId?: string | undefined
}

/** The result of a rejected tool call. */
export const rejectedCallResult = 'This call was taken back. It was not carried out.'

/** The metadata of rejected messages. Clients may hide them; models never see them. */
export function rejectedMetadata(reason: string): Metadata {
  return { millrace: { rejected: reason } }
}

/** Marks a message as rejected. The run stream opens it again if it has ended. */
export function rejectMessage(message: RejectedMessage, reason: string): AgentEvent[] {
  const { id: messageId, kind, role = 'assistant', subagentRunId } = message
  const tag = spanTag(subagentRunId)
  const metadata = rejectedMetadata(reason)
  return kind === 'text'
    ? [
        { type: 'TEXT_MESSAGE_START', messageId, role, metadata, ...tag },
        { type: 'TEXT_MESSAGE_END', messageId, ...tag },
      ]
    : [
        { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', metadata, ...tag },
        { type: 'REASONING_MESSAGE_END', messageId, ...tag },
      ]
}
