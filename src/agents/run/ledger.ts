import type { Message, ToolCall } from '@ag-ui/core'
import { isRejected, type AgUiEvent } from '../../protocol/index.js'
import { createVoices } from '../history/hidden-spans.js'

/** What a run has said for itself, taken from the events as they pass. */
export interface Ledger {
  see(event: AgUiEvent): void
  /** The last text that was not taken back, of the agent or of one it runs as part of the conversation. */
  text(messages: readonly Message[]): string
  /** The calls this run leaves to the client, and those of `more`. */
  pendingCalls(messages: readonly Message[], more: readonly string[]): ToolCall[]
}

export function createLedger(): Ledger {
  return new SeenEvents()
}

class SeenEvents implements Ledger {
  readonly #voices = createVoices()
  #texts: Set<string> | undefined
  /** Of those who work on a tool call: what counts when nobody else has spoken. */
  #textsBelow: Set<string> | undefined
  #pendingToolCallIds: readonly string[] | undefined

  see(event: AgUiEvent): void {
    if (event.type === 'SUBAGENT_STARTED') this.#voices.see(event)
    if (event.type === 'TEXT_MESSAGE_START' && (event.role ?? 'assistant') === 'assistant') {
      if (this.#voices.isHeard(event.subagentRunId)) (this.#texts ??= new Set()).add(event.messageId)
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
