import { contentToText, type Message } from '@ag-ui/core'
import { isRecord } from '../../../core/is-record.js'

export const searchToolName = 'tool_search'

/** What a search answers, as JSON: later runs read in it what was found. */
export interface SearchAnswer {
  readonly tools: readonly { readonly name: string; readonly description: string }[]
  readonly note: string
}

/** The names of the tools that were found in a conversation. Takes time linear in its length. */
export function foundInMessages(messages: readonly Message[]): string[] {
  const searches = new Set<string>()
  const found = new Set<string>()
  for (const message of messages) {
    // What subagents have found is theirs.
    if (message.subagentRunId !== undefined) continue
    if (message.role === 'assistant')
      for (const call of message.toolCalls ?? [])
        if (call.function.name === searchToolName) searches.add(call.id)
    if (message.role === 'tool' && searches.has(message.toolCallId))
      for (const name of namesIn(contentToText(message.content))) found.add(name)
  }
  return [...found]
}

/** Nothing for an error, or for what a middleware has made of an answer. */
function namesIn(text: string): string[] {
  const answer = parsed(text)
  if (!isRecord(answer) || !Array.isArray(answer.tools)) return []
  return answer.tools.flatMap((one: unknown) =>
    isRecord(one) && typeof one.name === 'string' ? [one.name] : [],
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
