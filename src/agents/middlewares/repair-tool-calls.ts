import type { Message, ToolCall, ToolMessage } from '@ag-ui/core'
import type { Middleware } from '../chat/middleware.js'

export interface RepairToolCallsOptions {
  /** What the model reads in place of a result that is missing. */
  readonly text?: string | ((call: ToolCall) => string)
}

/**
 * Makes every conversation one that providers accept: each tool call has one result, and it comes before the user
 * speaks again. A call that was never answered, because its run was cancelled or the user wrote something else
 * instead, gets a result that says so. A result that came late is moved behind its call. Left out are results without
 * a call and second results of one call.
 *
 * Only what the model gets is changed; the thread keeps its messages.
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

/** The repaired conversation, or the same array when there is nothing to repair. Takes time linear in its length. */
export function repairMessages(
  messages: readonly Message[],
  text: NonNullable<RepairToolCallsOptions['text']> = notCarriedOut,
): readonly Message[] {
  const { holders, isInPlace } = matchResults(messages)
  if (isInPlace && [...holders.values()].every(({ unanswered }) => unanswered.size === 0)) return messages
  return messages.flatMap((message, position): Message[] => {
    if (message.role === 'tool') return []
    const holder = holders.get(position)
    if (holder === undefined) return [message]
    const missing = [...holder.unanswered.values()].map((call): ToolMessage => ({
      id: `${message.id}:${call.id}:cancelled`,
      role: 'tool',
      toolCallId: call.id,
      content: typeof text === 'string' ? text : text(call),
    }))
    return [message, ...holder.results, ...missing]
  })
}

function notCarriedOut(call: ToolCall): string {
  return `The call of ${call.function.name} was cancelled: it was not carried out and has no result.`
}

/** A message with tool calls. */
interface Holder {
  readonly position: number
  readonly results: ToolMessage[]
  readonly unanswered: Map<string, ToolCall>
}

/** Finds the results of every call. Some providers use an id again, so a result belongs to the last call before it. */
function matchResults(messages: readonly Message[]) {
  const holders = new Map<number, Holder>()
  const lastHolder = new Map<string, Holder>()
  let isInPlace = true
  let lastUser = -1
  for (const [position, message] of messages.entries()) {
    if (message.role === 'user') lastUser = position
    if (message.role === 'tool') {
      const holder = lastHolder.get(message.toolCallId)
      const isAnswer = holder?.unanswered.delete(message.toolCallId) === true
      if (isAnswer) holder.results.push(message)
      isInPlace &&= isAnswer && holder.position > lastUser
    }
    if (message.role !== 'assistant' || message.toolCalls === undefined) continue
    const unanswered = new Map(message.toolCalls.map((call) => [call.id, call]))
    const holder: Holder = { position, results: [], unanswered }
    holders.set(position, holder)
    for (const id of unanswered.keys()) lastHolder.set(id, holder)
  }
  return { holders, isInPlace }
}
