import type { BaseMessage } from '@langchain/core/messages'
import { isRecord } from '../../core/json.js'

/** Fields of an AG-UI message that LangChain does not have. They are never sent to providers. */
export interface MessageExtras {
  /** The id in the thread, if it differs from the one that `toAgui` would choose. */
  readonly id?: string
  readonly reasoningId?: string
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly encryptedValue?: string
  readonly error?: string
  /** The message is a synthetic result of an unanswered call. */
  readonly isSynthetic?: true
}

const extrasKey = 'ag-ui'

/** The extras as `additional_kwargs`. */
export function toExtrasKwargs(extras: MessageExtras): Record<string, unknown> {
  const present = Object.entries(extras).filter(([, value]) => value !== undefined)
  return present.length === 0 ? {} : { [extrasKey]: Object.fromEntries(present) }
}

/** The extras of a message. Fields of a wrong type are left out. */
export function readExtras(message: BaseMessage): MessageExtras {
  const stored: unknown = message.additional_kwargs[extrasKey]
  if (!isRecord(stored)) return {}
  const strings = ['id', 'reasoningId', 'encryptedValue', 'error'].flatMap((name) =>
    typeof stored[name] === 'string' ? [[name, stored[name]]] : [],
  )
  return {
    ...(Object.fromEntries(strings) as MessageExtras),
    ...(isRecord(stored.metadata) ? { metadata: stored.metadata } : {}),
    ...(stored.isSynthetic === true ? { isSynthetic: true } : {}),
  }
}
