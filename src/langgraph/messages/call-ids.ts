import type { Message } from '@ag-ui/core'
import { AIMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { stableHash } from '../../core/ids.js'

/**
 * The id of a call whose own id an earlier call of the thread has. The same call gets the same one every time. Providers
 * take letters, digits, `_` and `-` only.
 */
export function repeatedCallId(id: string, messageId: string): string {
  return id + suffixOf(messageId)
}

function suffixOf(messageId: string): string {
  return `-${stableHash(messageId)}`
}

/** The calls of a thread that have a `repeatedCallId`: the ids that clients have for them, by the graph's own. */
export class RepeatedCalls {
  readonly #byMessage = new Map<string, string>()
  readonly #newest = new Map<string, string>()

  constructor(messages: readonly Message[]) {
    for (const message of messages)
      if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) this.add(id, message.id)
  }

  /** Notes a call, if it has such an id. */
  add(id: string, messageId: string): void {
    if (!/.-[\da-f]{16}$/.test(id)) return
    const suffix = suffixOf(messageId)
    if (!id.endsWith(suffix)) return
    const graphId = id.slice(0, -suffix.length)
    this.#byMessage.set(`${messageId} ${graphId}`, id)
    this.#newest.set(graphId, id)
  }

  /** The call of a message. Undefined if clients know it by the graph's own id. */
  idIn(messageId: string | undefined, graphId: string): string | undefined {
    return messageId === undefined ? undefined : this.#byMessage.get(`${messageId} ${graphId}`)
  }

  /** The newest call with an id of the graph. Undefined if clients know it by that id. */
  newestId(graphId: string): string | undefined {
    return this.#newest.get(graphId)
  }
}

/**
 * The index of the message that made the call of the result at `index`: the last one before it. -1 if there is none, or
 * if the message is no result.
 */
export function callerIndex(messages: readonly BaseMessage[], index: number): number {
  const result = messages[index]
  if (!result || !ToolMessage.isInstance(result)) return -1
  let at = index - 1
  while (at >= 0 && !makesCall(messages[at], result.tool_call_id)) at--
  return at
}

/** Whether a message makes a call with this id of the graph. */
export function makesCall(message: BaseMessage | undefined, callId: string): boolean {
  if (!message || !AIMessage.isInstance(message)) return false
  const { tool_calls = [], invalid_tool_calls = [] } = message
  return tool_calls.some(({ id }) => id === callId) || invalid_tool_calls.some(({ id }) => id === callId)
}
