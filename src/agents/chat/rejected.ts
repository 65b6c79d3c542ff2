import type { AgentEvent } from '../../protocol/index.js'
import type { Draft } from './draft.js'

/** The metadata of what was taken back. Clients may hide it; models never see it. */
function mark(reason: string) {
  return { metadata: { millrace: { rejected: reason } } }
}

/** Marks all that an attempt has shown as taken back, and answers its calls: nobody is to carry them out. */
export function rejectDraft(draft: Draft, reason: string, newId: (prefix: string) => string): AgentEvent[] {
  const events: AgentEvent[] = []
  for (const message of draft.messages) {
    const { id: messageId } = message
    if (message.role === 'reasoning') {
      events.push({ type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...mark(reason) })
      events.push({ type: 'REASONING_MESSAGE_END', messageId })
    } else {
      events.push({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...mark(reason) })
      events.push({ type: 'TEXT_MESSAGE_END', messageId })
    }
  }
  for (const { id: toolCallId } of draft.calls) {
    const content = 'This call was taken back. It was not carried out.'
    events.push({
      type: 'TOOL_CALL_RESULT',
      messageId: newId('message'),
      toolCallId,
      content,
      ...mark(reason),
    })
  }
  return events
}
