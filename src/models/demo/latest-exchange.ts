import { contentToText, type Message, type ToolMessage } from '@ag-ui/core'
import type { ModelRequest } from '../contract.js'

/** The last message of the user, and all that happened since. */
export interface LatestExchange {
  readonly request: ModelRequest
  readonly userText: string
  /** Tool calls since, in order. */
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: string }[]
  /** Tool results since, in order. */
  readonly results: readonly NamedToolResult[]
  /** What other agents have said since. */
  readonly reports: readonly AgentReport[]
}

export interface AgentReport {
  readonly name: string
  readonly text: string
  readonly isFailed: boolean
}

export interface NamedToolResult {
  /** The name of the tool. */
  readonly name: string
  readonly message: ToolMessage
}

export function readLatestExchange(request: ModelRequest): LatestExchange {
  const { messages } = request
  const start = messages.findLastIndex((message) => message.role === 'user' && !isContext(message))
  const last = messages[start]
  const since = messages.slice(start + 1)
  const calls = since.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  const toolNames = new Map(calls.map(({ id, function: { name } }) => [id, name]))
  return {
    request,
    userText: last?.role === 'user' ? contentToText(last.content).replace(stepPrefix, '') : '',
    calls: calls.map(({ id, function: { name, arguments: args } }) => ({ id, name, args })),
    results: since
      .filter((message) => message.role === 'tool')
      .map((message) => ({ name: toolNames.get(message.toolCallId) ?? 'tool', message })),
    reports: since.flatMap(readReport),
  }
}

// The form in which an agent gets a step of a plan.
const stepPrefix = /^Do this step, and nothing else: /

// The form in which an agent gets the messages of other agents.
const contextPrefix = /^For context: \[([^\]]+)\] /

function isContext(message: Message): boolean {
  return message.role === 'user' && contextPrefix.test(contentToText(message.content))
}

function readReport(message: Message): AgentReport[] {
  if (message.role !== 'user') return []
  const text = contentToText(message.content)
  const [prefix = '', agent = ''] = contextPrefix.exec(text) ?? []
  const [report = ''] = text.slice(prefix.length).split(`\n[${agent}] called tool`)
  const [start, verb] = /^(said: |failed\. )/.exec(report) ?? []
  if (start === undefined) return []
  return [{ name: agent, text: report.slice(start.length), isFailed: verb === 'failed. ' }]
}
