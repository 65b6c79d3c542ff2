import type { Message } from '@ag-ui/core'
import type { PendingCall } from './contract.js'

/** The calls with these ids that have no result, in the order of the messages. Looks from the end: they are there. */
export function pendingCallsOf(
  messages: readonly Message[],
  pendingIds: readonly string[],
): readonly PendingCall[] {
  const ids = new Set(pendingIds)
  const found: PendingCall[] = []
  for (let at = messages.length - 1; at >= 0 && ids.size > 0; at--) {
    const message = messages[at]
    if (message?.role === 'tool') ids.delete(message.toolCallId)
    if (message?.role !== 'assistant') continue
    const calls = (message.toolCalls ?? []).filter(({ id }) => ids.delete(id))
    found.unshift(
      ...calls.map(({ id, function: { name, arguments: args } }) => ({ id, name, arguments: args })),
    )
  }
  return found
}
