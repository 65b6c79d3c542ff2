import type { Message, ToolCall, ToolMessage } from '@ag-ui/core'
import type { Middleware } from '../chat/middleware.js'

export interface RepairToolCallsOptions {
  /** The model reads this in place of a missing result. */
  readonly text?: string | ((call: ToolCall) => string)
}

/**
 * Repairs conversations that providers would refuse: they want one result for each tool call, before the next user
 * message. A call without a result, because its run was cancelled or the user wrote something else instead, gets one that
 * says so. A late result is moved behind its call, and results stand in the order of the calls. Results without a call and second results of one call are left out.
 *
 * Only the model's request is changed; the thread keeps its messages.
 *
 * @example
 * const agent = defineAgent({ name: 'concierge', model, tools, middlewares: [repairToolCalls()] })
 */
export function repairToolCalls({ text }: RepairToolCallsOptions = {}): Middleware {
  return {
    model(request, next) {
      const messages = repairMessages(request.messages, text)
      return next(messages === request.messages ? request : { ...request, messages })
    },
  }
}

/** The repaired conversation, or the same array if there is nothing to repair. Takes linear time. */
export function repairMessages(
  messages: readonly Message[],
  text: NonNullable<RepairToolCallsOptions['text']> = cancelledText,
): readonly Message[] {
  const { callers, isInOrder } = matchResults(messages)
  if (isInOrder && [...callers.values()].every(({ pendingCalls }) => pendingCalls.size === 0)) return messages
  return messages.flatMap((message, position): Message[] => {
    if (message.role === 'tool') return []
    const caller = callers.get(position)
    if (caller === undefined) return [message]
    const missing = [...caller.pendingCalls.values()].map((call): ToolMessage => ({
      id: `${message.id}:${call.id}:cancelled`,
      role: 'tool',
      toolCallId: call.id,
      content: typeof text === 'string' ? text : text(call),
    }))
    return [message, ...inCallOrder([...caller.results, ...missing], message)]
  })
}

function inCallOrder(results: readonly ToolMessage[], caller: Message): readonly ToolMessage[] {
  const ids = caller.role === 'assistant' ? (caller.toolCalls ?? []).map(({ id }) => id) : []
  return results.toSorted((one, other) => ids.indexOf(one.toolCallId) - ids.indexOf(other.toolCallId))
}

function cancelledText(call: ToolCall): string {
  return `The call of ${call.function.name} was cancelled: it was not carried out and has no result.`
}

/** An assistant message with tool calls. */
interface Caller {
  readonly position: number
  readonly results: ToolMessage[]
  readonly pendingCalls: Map<string, ToolCall>
}

/** Finds the result of every call. Some providers reuse ids, so a result belongs to the last call before it. */
function matchResults(messages: readonly Message[]) {
  const callers = new Map<number, Caller>()
  const lastCaller = new Map<string, Caller>()
  let isInOrder = true
  let lastUser = -1
  for (const [position, message] of messages.entries()) {
    if (message.role === 'user') lastUser = position
    if (message.role === 'tool') {
      const caller = lastCaller.get(message.toolCallId)
      const [next] = caller?.pendingCalls.keys() ?? []
      const isResult = caller?.pendingCalls.delete(message.toolCallId) === true
      if (isResult) caller.results.push(message)
      isInOrder &&= isResult && caller.position > lastUser && next === message.toolCallId
    }
    if (message.role !== 'assistant' || message.toolCalls === undefined) continue
    const pendingCalls = new Map(message.toolCalls.map((call) => [call.id, call]))
    const caller: Caller = { position, results: [], pendingCalls }
    callers.set(position, caller)
    for (const id of pendingCalls.keys()) lastCaller.set(id, caller)
  }
  return { callers, isInOrder }
}
