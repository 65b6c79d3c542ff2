import type { AgentEvent } from '../../protocol/index.js'

/** The subagents that have started and not ended, so that those that are stopped can be closed. */
export interface OpenSpans {
  see(event: AgentEvent): void
  /** The ends of all that are open, innermost first. */
  close(message: string): AgentEvent[]
}

export function createOpenSpans(): OpenSpans {
  const open = new Set<string>()
  return {
    see(event) {
      if (event.type === 'SUBAGENT_STARTED') open.add(event.subagentRunId)
      if (event.type === 'SUBAGENT_FINISHED' || event.type === 'SUBAGENT_ERROR')
        open.delete(event.subagentRunId)
    },
    close: (message) =>
      Array.from(open, (subagentRunId): AgentEvent => ({
        type: 'SUBAGENT_ERROR',
        subagentRunId,
        message,
      })).reverse(),
  }
}
