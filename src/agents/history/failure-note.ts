import type { AgentEvent } from '../../protocol/index.js'
import type { RunServices } from '../agent.js'
import { errorContent } from '../tool-result.js'
import { toMark, markKey, type Origin } from './mark.js'

/** Tells the agents that come after one that has failed. A message to models, not to people. */
export function failureNote(
  error: unknown,
  origin: Origin,
  { newId }: Pick<RunServices, 'newId'>,
): AgentEvent[] {
  const messageId = newId('message')
  const metadata = { [markKey]: toMark(origin) }
  return [
    { type: 'TEXT_MESSAGE_START', messageId, role: 'developer', metadata },
    { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: `failed. ${errorContent(error)}` },
    { type: 'TEXT_MESSAGE_END', messageId },
  ]
}
