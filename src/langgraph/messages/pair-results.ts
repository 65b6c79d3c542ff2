import { AIMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { toExtrasKwargs } from './message-extras.js'
import { toolResultId } from './to-agui.js'

/** The content of a synthetic result. */
export const skippedResult = 'There is no result: the call was not answered.'

/**
 * Puts every result right behind the message with its call, as providers demand. A call that was never answered, though
 * the conversation has moved on, gets a result that says so. Results without a call stay where they are.
 */
export function pairResults(messages: readonly BaseMessage[]): BaseMessage[] {
  const results = resultsByCall(messages)
  const placed = new Set<BaseMessage>()
  return messages.flatMap((message, index) => {
    if (placed.has(message)) return []
    const calls = toolCallsIn(message)
    if (calls.length === 0) return [message]
    const hasMovedOn = messages.slice(index + 1).some((later) => !ToolMessage.isInstance(later))
    const own = calls.flatMap((call): BaseMessage[] => {
      const result = results.get(message)?.get(call.id)
      if (result) placed.add(result)
      return result ? [result] : hasMovedOn ? [toSkippedResult(call)] : []
    })
    return [message, ...inOriginalOrder(own, messages)]
  })
}

export interface CallRef {
  readonly id: string
  readonly name: string
}

/** The calls of the last message that have no result yet. None if anything but results follows it. */
export function unansweredCalls(messages: readonly BaseMessage[]): CallRef[] {
  const position = messages.findLastIndex((message) => !ToolMessage.isInstance(message))
  const caller = messages[position]
  if (!caller) return []
  const results = resultsByCall(messages.slice(position)).get(caller)
  return toolCallsIn(caller).filter(({ id }) => !results?.has(id))
}

/** A synthetic result for an unanswered call. */
export function toSkippedResult({ id, name }: CallRef): ToolMessage {
  const message = new ToolMessage({
    id: toolResultId(id),
    name,
    tool_call_id: id,
    content: skippedResult,
    status: 'error',
  })
  message.additional_kwargs = toExtrasKwargs({ isSynthetic: true })
  return message
}

function toolCallsIn(message: BaseMessage): CallRef[] {
  if (!AIMessage.isInstance(message)) return []
  return (message.tool_calls ?? []).flatMap(({ id, name }) => (id === undefined ? [] : [{ id, name }]))
}

/** The results of each message with calls. Of several messages with a call, a result belongs to the last one before it. */
function resultsByCall(
  messages: readonly BaseMessage[],
): ReadonlyMap<BaseMessage, ReadonlyMap<string, BaseMessage>> {
  const callers = new Map<string, BaseMessage>()
  // A result that comes before its call belongs to the first message with it.
  for (const message of messages.toReversed())
    for (const { id } of toolCallsIn(message)) callers.set(id, message)
  const results = new Map<BaseMessage, Map<string, BaseMessage>>()
  for (const message of messages) {
    for (const { id } of toolCallsIn(message)) callers.set(id, message)
    const caller = ToolMessage.isInstance(message) ? callers.get(message.tool_call_id) : undefined
    if (!caller || !ToolMessage.isInstance(message)) continue
    const own = results.get(caller) ?? new Map<string, BaseMessage>()
    results.set(caller, own.set(message.tool_call_id, message))
  }
  return results
}

/** Stored results keep their order; synthetic ones come last. */
function inOriginalOrder(own: readonly BaseMessage[], messages: readonly BaseMessage[]): BaseMessage[] {
  const position = (message: BaseMessage): number => {
    const index = messages.indexOf(message)
    return index === -1 ? messages.length : index
  }
  return own.toSorted((a, b) => position(a) - position(b))
}
