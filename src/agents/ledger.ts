import type { Message, ToolCall } from '@ag-ui/core'
import type { AgUiEvent } from '../protocol/index.js'
import { isRejected } from './chat/rejected.js'

/** What a run has said for itself, taken from the events as they pass. */
export interface Ledger {
  see(event: AgUiEvent): void
  /** The last text of the agent itself that was not taken back; of a subagent when only subagents have spoken. */
  text(messages: readonly Message[]): string
  /** The calls this run leaves to the client, and those of `more`. */
  pendingCalls(messages: readonly Message[], more: readonly string[]): ToolCall[]
}

export function createLedger(): Ledger {
  return new SeenEvents()
}

class SeenEvents implements Ledger {
  #texts: Set<string> | undefined
  #textsBelow: Set<string> | undefined
  #pendingToolCallIds: readonly string[] | undefined

  see(event: AgUiEvent): void {
    if (event.type === 'TEXT_MESSAGE_START') {
      if (event.subagentRunId === undefined) (this.#texts ??= new Set()).add(event.messageId)
      else (this.#textsBelow ??= new Set()).add(event.messageId)
    }
    if (event.type === 'RUN_FINISHED' && event.outcome?.type === 'success')
      this.#pendingToolCallIds = event.outcome.pendingToolCallIds
  }

  text(messages: readonly Message[]): string {
    const texts = this.#texts ?? this.#textsBelow
    const last = messages.findLast((message) => texts?.has(message.id) === true && !isRejected(message))
    return last?.role === 'assistant' ? (last.content ?? '') : ''
  }

  pendingCalls(messages: readonly Message[], more: readonly string[]): ToolCall[] {
    const ids = new Set([...(this.#pendingToolCallIds ?? []), ...more])
    if (ids.size === 0) return []
    const calls = messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []) : [],
    )
    return calls.filter(({ id }) => ids.has(id))
  }
}
