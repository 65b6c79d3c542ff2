import { AIMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { kwargsWith } from './extras.js'
import { resultId } from './to-agui.js'

/** What models read in the place of an answer that never came. */
export const skippedResult = 'There is no result: the call was not answered.'

/**
 * Puts every result right behind the message that has called, as providers insist on it. A call that was never answered,
 * though the conversation has gone on, gets a result that says so. Results without a call are left where they are.
 */
export function arrange(messages: readonly BaseMessage[]): BaseMessage[] {
  const results = resultsByCall(messages)
  const placed = new Set<BaseMessage>()
  return messages.flatMap((message, index) => {
    if (placed.has(message)) return []
    const calls = callsOf(message)
    if (calls.length === 0) return [message]
    const hasGoneOn = messages.slice(index + 1).some((later) => !ToolMessage.isInstance(later))
    const own = calls.flatMap((call): BaseMessage[] => {
      const result = results.get(call.id)
      if (result) placed.add(result)
      return result ? [result] : hasGoneOn ? [skipped(call)] : []
    })
    return [message, ...inOrder(own, messages)]
  })
}

/** The calls that wait for a result, with nothing after them but results. */
export function waitingCalls(messages: readonly BaseMessage[]): Call[] {
  const position = messages.findLastIndex((message) => !ToolMessage.isInstance(message))
  const caller = messages[position]
  if (!caller) return []
  const results = resultsByCall(messages.slice(position))
  return callsOf(caller).filter(({ id }) => !results.has(id))
}

export interface Call {
  readonly id: string
  readonly name: string
}

function callsOf(message: BaseMessage): Call[] {
  if (!AIMessage.isInstance(message)) return []
  return (message.tool_calls ?? []).flatMap(({ id, name }) => (id === undefined ? [] : [{ id, name }]))
}

function resultsByCall(messages: readonly BaseMessage[]): ReadonlyMap<string, BaseMessage> {
  return new Map(
    messages.flatMap((message) => (ToolMessage.isInstance(message) ? [[message.tool_call_id, message]] : [])),
  )
}

/** As they came, so that what is stored stays where it is; those made up come last. */
function inOrder(own: readonly BaseMessage[], messages: readonly BaseMessage[]): BaseMessage[] {
  const place = (message: BaseMessage): number => {
    const index = messages.indexOf(message)
    return index === -1 ? messages.length : index
  }
  return own.toSorted((a, b) => place(a) - place(b))
}

/** A result for a call that nobody has answered. */
export function skipped({ id, name }: Call): ToolMessage {
  const message = new ToolMessage({
    id: resultId(id),
    name,
    tool_call_id: id,
    content: skippedResult,
    status: 'error',
  })
  message.additional_kwargs = kwargsWith({ isSynthetic: true })
  return message
}
