import type { Message } from '@ag-ui/core'
import { isEqual } from '../../core/is-equal.js'
import type { AgentEvent, RunInput } from '../../protocol/index.js'
import type { StateRulesHandle } from '../state/state-rules.js'
import { isSpoken } from './message-index.js'

export interface OpeningOptions {
  readonly input: RunInput
  /** The conversation the client should hold. Undefined: it keeps what it has. */
  readonly messages: readonly Message[] | undefined
  /** The full state. */
  readonly state: unknown
  readonly rules: StateRulesHandle
}

/** Snapshots of what differs from what a client holds, as its request shows it. */
export function openingOf({ input, messages, state, rules }: OpeningOptions): AgentEvent[] {
  const events: AgentEvent[] = []
  if (messages && !isSameList(messages, input.messages)) events.push(...snapshots(messages, input.messages))
  if (!isEqual(rules.visible(state), input.state)) events.push({ type: 'STATE_SNAPSHOT', snapshot: state })
  return events
}

/**
 * Clients keep what they have where it is, and put what they lack behind it. So one that would end up with another order
 * is first left with no more than the beginning that is right.
 */
function snapshots(ours: readonly Message[], theirs: readonly Message[]): AgentEvent[] {
  const spoken = ours.filter(isSpoken)
  const ids = new Set(spoken.map(({ id }) => id))
  const isInOrder = theirs.filter(({ id }) => ids.has(id)).every(({ id }, n) => id === spoken[n]?.id)
  const full: AgentEvent = { type: 'MESSAGES_SNAPSHOT', messages: [...ours] }
  if (isInOrder) return [full]
  const same = ours.findIndex(({ id }, n) => id !== theirs[n]?.id)
  return [{ type: 'MESSAGES_SNAPSHOT', messages: ours.slice(0, same) }, full]
}

/** Whether both have the same messages in the same order, leaving out reasoning and activity. */
function isSameList(ours: readonly Message[], theirs: readonly Message[]): boolean {
  let at = 0
  for (const message of ours) {
    if (!isSpoken(message)) continue
    while (isLeftOut(theirs[at])) at++
    if (theirs[at]?.id !== message.id) return false
    at++
  }
  while (isLeftOut(theirs[at])) at++
  return at === theirs.length
}

function isLeftOut(message: Message | undefined): boolean {
  return message !== undefined && !isSpoken(message)
}
