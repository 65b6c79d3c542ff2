import type { Event } from '@google/adk'
import { requestNames } from './function-names.js'
import { field } from './redact.js'

/**
 * The tools whose own code asked for a confirmation that the user's last event gives. ADK forgets that they did, and
 * then takes the answer for a forgery: `IntentMismatchError: confirmation_not_required`.
 */
export function confirmedTools(events: readonly Event[], agentName: string): ReadonlySet<string> {
  const last = events.findLast(({ author }) => author === 'user')
  const answered = new Set(
    last?.content?.parts?.flatMap(({ functionResponse }) => functionResponse?.id ?? []),
  )
  const names = new Set<string>()
  for (const { author, content, actions } of events) {
    if (author !== agentName) continue
    for (const { functionCall } of content?.parts ?? []) {
      if (functionCall?.name !== requestNames.confirmation || !answered.has(functionCall.id ?? '')) continue
      const original = field(functionCall.args, 'originalFunctionCall')
      const id = field(original, 'id')
      const name = field(original, 'name')
      // The note that ADK made itself when it asked. A call alone proves nothing.
      if (typeof id === 'string' && typeof name === 'string' && id in actions.requestedToolConfirmations)
        names.add(name)
    }
  }
  return names
}
