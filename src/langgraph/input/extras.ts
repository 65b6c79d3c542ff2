import type { BaseMessage } from '@langchain/core/messages'
import { isRecord } from '../../core/is-record.js'

/** What a message of AG-UI has and LangChain has no place for. Providers are not sent it. */
export interface Extras {
  /** The id it has in the thread, where that is not the one it would get from here. */
  readonly id?: string
  readonly reasoningId?: string
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly encryptedValue?: string
  readonly error?: string
  /** It was made up, for a call that nobody has answered. */
  readonly isSynthetic?: true
}

const key = 'ag-ui'

/** Extras as `additional_kwargs`. */
export function kwargsWith(extras: Extras): Record<string, unknown> {
  const present = Object.entries(extras).filter(([, value]) => value !== undefined)
  return present.length === 0 ? {} : { [key]: Object.fromEntries(present) }
}

/** The extras of a message. Only what has the right type. */
export function extrasOf(message: BaseMessage): Extras {
  const stored: unknown = message.additional_kwargs[key]
  if (!isRecord(stored)) return {}
  return {
    ...texts(stored),
    ...(isRecord(stored.metadata) ? { metadata: stored.metadata } : {}),
    ...(stored.isSynthetic === true ? { isSynthetic: true } : {}),
  }
}

function texts(
  stored: Record<string, unknown>,
): Pick<Extras, 'id' | 'reasoningId' | 'encryptedValue' | 'error'> {
  const names = ['id', 'reasoningId', 'encryptedValue', 'error']
  return Object.fromEntries(
    names.flatMap((name) => (typeof stored[name] === 'string' ? [[name, stored[name]]] : [])),
  )
}
