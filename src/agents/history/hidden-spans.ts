import type { AgentEvent } from '../../protocol/index.js'

/** Knows whose words are part of the conversation: not those of agents that work on a tool call, nor of those below them. */
export interface Voices {
  see(event: AgentEvent): void
  isHeard(subagentRunId: string | undefined): boolean
}

export function createVoices(): Voices {
  return new HiddenSpans()
}

// A class: every run has one, and most never hide anything.
class HiddenSpans implements Voices {
  #hidden: Set<string> | undefined

  see(event: AgentEvent): void {
    if (event.type !== 'SUBAGENT_STARTED') return
    if (event.parentToolCallId !== undefined || !this.isHeard(event.parentSubagentRunId))
      (this.#hidden ??= new Set()).add(event.subagentRunId)
  }

  isHeard(subagentRunId: string | undefined): boolean {
    return subagentRunId === undefined || this.#hidden?.has(subagentRunId) !== true
  }
}
