import { isEqual } from '../../core/is-equal.js'
import { joined } from './insert-messages.js'
import { mergeState, seenOf } from '../state/merge-state.js'
import { openingOf } from './catch-up.js'
import { isSpoken } from './message-index.js'
import type { TurnPlan, TurnRequest } from './run-plan.js'

/** The plan when the client's list is the conversation, whatever is stored. */
export function planClientTurn({ thread, input, rules }: TurnRequest): TurnPlan {
  if (!hasWork({ thread, input })) return { type: 'nothing' }
  const stored = thread?.messages ?? []
  const differing = input.messages.findIndex(
    (message, n) => n >= stored.length || !isEqual(message, stored[n]),
  )
  const keep = differing === -1 ? input.messages.length : differing
  const state = mergeState({
    ...seenOf(thread, rules),
    stored: thread?.state,
    client: input.state,
    knows: 'all',
    rules,
  })
  return {
    type: 'run',
    ...joined(stored, { keep, append: input.messages.slice(keep) }),
    state,
    opening: openingOf({ input, messages: undefined, state, rules }),
    fork: false,
    resume: input.resume,
  }
}

function hasWork({ thread, input }: Pick<TurnRequest, 'thread' | 'input'>): boolean {
  // Questions that are open are asked again: a run that just finished would tell the client that there are none.
  if (input.resume.length > 0 || (thread?.interrupts.length ?? 0) > 0) return true
  const last = input.messages.findLast(isSpoken)
  return last !== undefined && last.role !== 'assistant'
}
