import { contentToText, type Message, type ToolMessage } from '@ag-ui/core'
import type { ModelRequest } from '../model.js'

/** A result of a tool, and the tool it is of. */
export interface NamedResult {
  readonly toolName: string
  readonly message: ToolMessage
}

/** What matters of a request. */
export interface Situation {
  readonly request: ModelRequest
  /** What the user said last. */
  readonly said: string
  /** What tools have answered since, in order. */
  readonly results: readonly NamedResult[]
}

/** Reads a request, from its end back to what the user said last. */
export function readSituation(request: ModelRequest): Situation {
  const { messages } = request
  const start = messages.findLastIndex(({ role }) => role === 'user')
  const last = messages[start]
  const since = messages.slice(start + 1)
  const toolNames = new Map(since.flatMap(callsOf))
  return {
    request,
    said: last?.role === 'user' ? contentToText(last.content) : '',
    results: since
      .filter((message) => message.role === 'tool')
      .map((message) => ({ toolName: toolNames.get(message.toolCallId) ?? 'tool', message })),
  }
}

function callsOf(message: Message): (readonly [id: string, name: string])[] {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
  return calls.map(({ id, function: { name } }) => [id, name])
}
