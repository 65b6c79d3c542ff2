import type { Message } from '@ag-ui/core'
import { ToolMessage, type BaseMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { isRecord } from '../../core/json.js'
import { makesCall, RepeatedCalls } from '../messages/call-ids.js'
import { readGraphMessages } from '../messages/to-agui.js'
import { toLangChain } from '../messages/to-langchain.js'

/** Returns the result that the thread has for a call, by the graph's id and the message that made it, if it is known. */
export type KeptResult = (graphId: string, callerId: string | undefined) => BaseMessage | undefined

interface KeptResultsOptions {
  /** The thread as the run begins. */
  readonly messages: readonly Message[]
  /** The result of a client tool comes from the client, and the graph waits for it in an interrupt of its own. */
  readonly isClientTool: (name: string) => boolean
}

/**
 * The results that the thread has before a run. A process may die between a tool and the checkpoint after it: the graph
 * would execute the call again. A graph inside another one does that even if the thread knows the result, or knows
 * that it is lost, because a run gives new messages to the outer graph alone.
 */
export function keptResults({ messages, isClientTool }: KeptResultsOptions): KeptResult {
  const repeated = new RepeatedCalls(messages)
  const results = new Map(
    messages.flatMap((message) => (message.role === 'tool' ? [[message.toolCallId, message] as const] : [])),
  )
  const callers = new Map(
    messages.flatMap((message) =>
      message.role === 'assistant'
        ? (message.toolCalls ?? [])
            .filter((call) => !isClientTool(call.function.name))
            .map(({ id }) => [id, message] as const)
        : [],
    ),
  )
  return (graphId, callerId) => {
    const id = repeated.idIn(callerId, graphId) ?? graphId
    const [caller, result] = [callers.get(id), results.get(id)]
    // Another message may make a call with the same id: a graph that makes messages by hand.
    if (!caller || !result || (callerId !== undefined && callerId !== caller.id)) return undefined
    const kept = toLangChain([caller, result]).at(-1)
    if (ToolMessage.isInstance(kept)) kept.tool_call_id = graphId
    return kept
  }
}

/** The id of the message that made a call, in the input of the tool node. */
export function callerIn(config: RunnableConfig, graphId: string): string | undefined {
  const scratchpad: unknown = config.configurable?.__pregel_scratchpad
  const input = isRecord(scratchpad) ? scratchpad.currentTaskInput : undefined
  const messages = readGraphMessages(isRecord(input) ? input.messages : input)
  return messages.findLast(({ message }) => makesCall(message, graphId))?.id
}
