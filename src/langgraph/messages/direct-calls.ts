import type { Message } from '@ag-ui/core'
import { stableHash } from '../../core/ids.js'

const prefix = 'direct-'

/** The id of a tool call that code of a graph makes, not a model. `origin` tells it from all others of the thread. */
export function directCallId(origin: string): string {
  return `${prefix}${stableHash(origin)}`
}

/** Whether a message only shows a direct call or its result to people: the graph does not have it. */
export function isDirectCallMessage(message: Message): boolean {
  if (message.role === 'tool') return message.toolCallId.startsWith(prefix)
  if (message.role !== 'assistant' || message.content) return false
  const { toolCalls = [] } = message
  return toolCalls.length > 0 && toolCalls.every(({ id }) => id.startsWith(prefix))
}
