import type { Message } from '@ag-ui/core'
import { isEqual } from '../../core/json.js'
import { isReported, type AgentEvent, type RunInput } from '../../protocol/index.js'
import type { StateRulesHandle } from '../state/state-rules.js'
import { isConversation } from './stored-messages.js'

interface CatchUpOptions {
  readonly input: RunInput
  /** The conversation the client should hold. Undefined: it keeps its own. */
  readonly messages: readonly Message[] | undefined
  /** The full state. */
  readonly state: unknown
  readonly rules: StateRulesHandle
}

/** The snapshots that a client needs before the run, judging by its request. With the full state. */
export function catchUpEvents({ input, messages, state, rules }: CatchUpOptions): AgentEvent[] {
  const events: AgentEvent[] = []
  if (messages && !isSameConversation(messages, input.messages))
    events.push(...messageSnapshots(messages, input.messages))
  if (!isEqual(rules.visible(state), input.state)) events.push({ type: 'STATE_SNAPSHOT', snapshot: state })
  return events
}

/**
 * Clients leave messages they have where they are, and put missing ones behind them. One that would end up with another
 * order first gets a snapshot of the beginning that is right.
 */
function messageSnapshots(ours: readonly Message[], theirs: readonly Message[]): AgentEvent[] {
  const conversation = ours.filter(isConversation)
  const ids = new Set(conversation.map(({ id }) => id))
  const isInOrder = theirs.filter(({ id }) => ids.has(id)).every(({ id }, n) => id === conversation[n]?.id)
  const full: AgentEvent = { type: 'MESSAGES_SNAPSHOT', messages: [...ours] }
  if (isInOrder) return [full]
  const same = ours.findIndex(({ id }, n) => id !== theirs[n]?.id)
  return [{ type: 'MESSAGES_SNAPSHOT', messages: ours.slice(0, same) }, full]
}

/** Whether both have the same messages in the same order, but for reasoning, activity, and reports that only we have. */
function isSameConversation(ours: readonly Message[], theirs: readonly Message[]): boolean {
  let at = 0
  for (const message of ours) {
    if (!isConversation(message)) continue
    while (isLeftOut(theirs[at])) at++
    if (theirs[at]?.id === message.id) at++
    else if (!isReported(message)) return false
  }
  while (isLeftOut(theirs[at])) at++
  return at === theirs.length
}

function isLeftOut(message: Message | undefined): boolean {
  return message !== undefined && !isConversation(message)
}
