import type { ToolMessage as ToolResult } from '@ag-ui/core'
import { ToolMessage } from '@langchain/core/messages'
import { interrupt } from '@langchain/langgraph'
import { isRecord } from '../../core/is-record.js'
import { clientToolReason } from '../ask/questions.js'
import { toLangChain } from '../input/to-langchain.js'

/** A call that a client has to answer. */
export interface ClientCall {
  readonly id: string
  readonly name: string
  readonly args: unknown
}

/**
 * Asks the client for the result of a call, and keeps the position of the graph meanwhile. The first time it throws, as
 * `interrupt` does: let that pass.
 */
export function askClient({ id, name, args }: ClientCall): ToolMessage {
  const answer: unknown = interrupt({ reason: clientToolReason, toolCallId: id, name, args })
  if (isResult(answer)) {
    const [message] = toLangChain([{ ...answer, toolCallId: id }])
    if (message instanceof ToolMessage) return named(message, name)
  }
  const isCancelled = isRecord(answer) && answer.__agui_cancelled__ === true
  return new ToolMessage({
    name,
    tool_call_id: id,
    content: isCancelled ? 'The user did not answer.' : asText(answer),
    ...(isCancelled ? { status: 'error' } : {}),
  })
}

function isResult(answer: unknown): answer is ToolResult {
  return isRecord(answer) && answer.role === 'tool' && typeof answer.id === 'string'
}

function named(message: ToolMessage, name: string): ToolMessage {
  message.name = name
  return message
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}
