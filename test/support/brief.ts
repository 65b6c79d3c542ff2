import type { AgUiEvent } from '../../src/protocol/index.js'

/** An event in a few words: `TEXT_MESSAGE_CONTENT m1 "Hi" @s1`. */
export function brief(event: AgUiEvent): string {
  const fields = event as unknown as Partial<Record<string, string | object>>
  const id = fields.messageId ?? fields.toolCallId ?? fields.stepName ?? fields.entityId ?? fields.code
  const delta = typeof fields.delta === 'string' ? JSON.stringify(fields.delta) : undefined
  const owner = typeof fields.subagentRunId === 'string' ? `@${fields.subagentRunId}` : undefined
  return [event.type, id, delta, owner].filter((part) => typeof part === 'string').join(' ')
}
