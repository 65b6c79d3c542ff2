import type { Message } from '@ag-ui/core'

/**
 * The messages that a new thread can begin with: whole ones of the conversation itself. Calls without a result, drafts that have
 * no text yet, and what subagents said among themselves are left out.
 */
export function forkMessages(messages: readonly Message[]): Message[] {
  const own = messages.filter((message) => message.role !== 'activity' && !('subagentRunId' in message))
  const answered = new Set(own.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])))
  const calls = new Set<string>()
  const kept: Message[] = []
  for (const message of own) {
    const whole = message.role === 'assistant' ? withAnsweredCalls(message, answered) : message
    if (whole.role === 'assistant') for (const { id } of whole.toolCalls ?? []) calls.add(id)
    if (whole.role === 'tool' ? calls.has(whole.toolCallId) : !isEmpty(whole)) kept.push(whole)
  }
  return kept
}

/** The last message of the user, and those before it. */
export function lastQuestion(messages: readonly Message[]): {
  readonly before: Message[]
  readonly text: string
} {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const { content } = (messages[at] ?? {}) as { readonly content?: unknown }
  return { before: messages.slice(0, Math.max(0, at)), text: textIn(content) }
}

type Assistant = Extract<Message, { role: 'assistant' }>

function withAnsweredCalls(message: Assistant, answered: ReadonlySet<string>): Assistant {
  const { toolCalls, ...rest } = message
  const whole = toolCalls?.filter(({ id }) => answered.has(id)) ?? []
  return whole.length === 0 ? rest : { ...rest, toolCalls: whole }
}

function isEmpty(message: Message): boolean {
  const { content, toolCalls } = message as { readonly content?: unknown; readonly toolCalls?: unknown }
  return toolCalls === undefined && (content === undefined || content === '')
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const parts = content as readonly { readonly type?: unknown; readonly text?: unknown }[]
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n')
}
