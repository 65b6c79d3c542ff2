import { toWireError } from '../core/errors.js'
import type { AgentEvent } from '../protocol/index.js'

/** How a subagent ended. */
export type SpanEnd =
  | { readonly type: 'done' }
  /** It waits for a person. The run stream knows the interrupts. */
  | { readonly type: 'suspended' }
  | { readonly type: 'failed'; readonly error: unknown }

/** The attribution of an event to a span, to be spread into the event. Not for the path of tokens. */
export function spanTag(subagentRunId: string | undefined): { subagentRunId?: string } {
  return subagentRunId === undefined ? {} : { subagentRunId }
}

/** The last event of a subagent span. */
export function spanEnded(subagentRunId: string, end: SpanEnd): AgentEvent {
  switch (end.type) {
    case 'done':
      return { type: 'SUBAGENT_FINISHED', subagentRunId }
    case 'suspended':
      return { type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'suspended' } }
    case 'failed':
      return { type: 'SUBAGENT_ERROR', subagentRunId, ...toWireError(end.error) }
  }
}
