import { contentToText, type Message, type ToolMessage } from '@ag-ui/core'
import type { ModelRequest } from '../contract.js'

/** The last message of the user, and all that happened since. */
export interface LatestExchange {
  readonly request: ModelRequest
  readonly userText: string
  /** Tool calls since, in order. */
  readonly calls: readonly { readonly name: string; readonly args: string }[]
  /** Tool results since, in order. */
  readonly results: readonly NamedToolResult[]
  /** Answers of other agents since, in the form of tool results. */
  readonly reports: readonly NamedToolResult[]
}

export interface NamedToolResult {
  /** The name of the tool, or of the agent. */
  readonly name: string
  readonly message: ToolMessage
}

/** Begins an answer that reports results. Other agents drop it when they report that answer in turn. */
export const reportPrefix = 'Here is what I found: '

export function readLatestExchange(request: ModelRequest): LatestExchange {
  const { messages } = request
  const start = messages.findLastIndex((message) => message.role === 'user' && !isContext(message))
  const last = messages[start]
  const since = messages.slice(start + 1)
  const calls = since.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  const toolNames = new Map(calls.map(({ id, function: { name } }) => [id, name]))
  return {
    request,
    userText: last?.role === 'user' ? contentToText(last.content) : '',
    calls: calls.map(({ function: { name, arguments: args } }) => ({ name, args })),
    results: since
      .filter((message) => message.role === 'tool')
      .map((message) => ({ name: toolNames.get(message.toolCallId) ?? 'tool', message })),
    reports: since.flatMap(readReport),
  }
}

// The form in which an agent gets the messages of other agents.
const contextPrefix = /^For context: \[([^\]]+)\] /

function isContext(message: Message): boolean {
  return message.role === 'user' && contextPrefix.test(contentToText(message.content))
}

function readReport(message: Message): NamedToolResult[] {
  if (message.role !== 'user') return []
  const text = contentToText(message.content)
  const [prefix = '', agent = ''] = contextPrefix.exec(text) ?? []
  const [report = ''] = text.slice(prefix.length).split(`\n[${agent}] called tool`)
  if (!/^(said: |failed\. )/.test(report)) return []
  const content = report.replace(/^said: /, '').replace(reportPrefix, '')
  return [{ name: agent, message: { id: message.id, role: 'tool', toolCallId: message.id, content } }]
}
