import type { Message } from '@ag-ui/core'
import { isEqual } from '../core/json.js'
import type { FieldNote } from './contract.js'

/** A client's messages, each once, and what is wrong with them. */
export interface UniqueMessages {
  readonly messages: Message[]
  /** Repeated messages, which are left out. */
  readonly warnings: readonly FieldNote[]
  /** Two different messages of one id. */
  readonly issues: readonly FieldNote[]
}

/**
 * Leaves out messages that are there twice, and finds different ones that share an id: which of them is meant, nobody could
 * say. Results of tools may share one: some clients give a result the id of its call, or of the message with the call.
 */
export function uniqueMessages(messages: Message[]): UniqueMessages {
  const warnings: FieldNote[] = []
  const issues: FieldNote[] = []
  const seen = new Map<string, number>()
  const repeated = new Set<Message>()
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') continue
    const first = seen.get(message.id)
    if (first === undefined) seen.set(message.id, index)
    else if (isEqual(messages[first], message)) {
      repeated.add(message)
      warnings.push({ field: `messages[${index}]`, message: `repeats messages[${first}]; left out` })
    } else {
      const problem = `the id of messages[${first}], which is another message; give each its own`
      issues.push({ field: `messages[${index}].id`, message: problem })
    }
  }
  const unique = repeated.size === 0 ? messages : messages.filter((message) => !repeated.has(message))
  return { messages: unique, warnings, issues }
}
