import { contentToText, type Message, type ToolMessage } from '@ag-ui/core'
import type { ModelRequest } from '../model.js'
import { finding } from './words.js'

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
  /** What was called since, in order. */
  readonly calls: readonly { readonly name: string; readonly args: string }[]
  /** What tools have answered since, in order. */
  readonly results: readonly NamedResult[]
  /** What other agents have said since, as if tools had answered. */
  readonly reports: readonly NamedResult[]
}

/** Reads a request, from its end back to what the user said last. */
export function readSituation(request: ModelRequest): Situation {
  const { messages } = request
  const start = messages.findLastIndex((message) => message.role === 'user' && !isContext(message))
  const last = messages[start]
  const since = messages.slice(start + 1)
  const calls = since.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  const toolNames = new Map(calls.map(({ id, function: { name } }) => [id, name]))
  return {
    request,
    said: last?.role === 'user' ? contentToText(last.content) : '',
    calls: calls.map(({ function: { name, arguments: args } }) => ({ name, args })),
    results: since
      .filter((message) => message.role === 'tool')
      .map((message) => ({ toolName: toolNames.get(message.toolCallId) ?? 'tool', message })),
    reports: since.flatMap(reportIn),
  }
}

// How agents are told what others have said.
const context = /^For context: \[([^\]]+)\] /

function isContext(message: Message): boolean {
  return message.role === 'user' && context.test(contentToText(message.content))
}

function reportIn(message: Message): NamedResult[] {
  if (message.role !== 'user') return []
  const text = contentToText(message.content)
  const [start = '', agent = ''] = context.exec(text) ?? []
  const [said = ''] = text.slice(start.length).split(`\n[${agent}] called tool`)
  if (!/^(said: |failed\. )/.test(said)) return []
  const content = said.replace(/^said: /, '').replace(finding, '')
  return [{ toolName: agent, message: { id: message.id, role: 'tool', toolCallId: message.id, content } }]
}
