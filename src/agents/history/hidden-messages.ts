import type { Message } from '@ag-ui/core'
import {
  cutOffMark,
  createRunStream,
  isRejected,
  retryEventName,
  rewriteEventName,
  type AgentEvent,
  type RunStream,
  type SettledMessages,
} from '../../protocol/index.js'

/** Subagent spans behind a tool call, and those below them: their messages are not part of the conversation. */
// A class with a lazy set: every run has one, and most have no such spans.
export class HiddenSpans {
  #hidden: Set<string> | undefined

  /** Notes a span that begins. Other events are ignored. */
  add(event: AgentEvent): void {
    if (event.type !== 'SUBAGENT_STARTED') return
    if (event.parentToolCallId !== undefined || this.has(event.parentSubagentRunId))
      (this.#hidden ??= new Set()).add(event.subagentRunId)
  }

  has(subagentRunId: string | undefined): boolean {
    return subagentRunId !== undefined && this.#hidden?.has(subagentRunId) === true
  }
}

export interface CallRecordOptions {
  readonly name: string
  readonly subagentRunId: string
  /** Messages from before the run was interrupted or stopped. */
  readonly before: readonly Message[]
}

/**
 * The messages behind a tool call. The agents there see each other's messages from it: the run's own conversation may
 * lack them, since an agent behind a call need not be shown.
 */
export class CallRecord {
  readonly #hidden = new HiddenSpans()
  readonly #stream: RunStream

  constructor({ name, subagentRunId, before }: CallRecordOptions) {
    this.#stream = createRunStream({ threadId: '', runId: subagentRunId, messages: before, emit: discard })
    this.#stream.write({ type: 'SUBAGENT_STARTED', subagentRunId, name })
  }

  get messages(): readonly Message[] {
    return this.#stream.fold.messages
  }

  settle(): SettledMessages {
    return this.#stream.fold.settle()
  }

  add(event: AgentEvent): void {
    this.#hidden.add(event)
    if (this.#stream.ended || !isMessageEvent(event) || this.#hidden.has(event.subagentRunId)) return
    try {
      this.#stream.write(event)
    } catch {
      // The run's own stream reports an event without meaning.
    }
  }

  /** The last text that was not rejected. */
  lastText(): string {
    const last = this.messages.findLast(
      (message) => message.role === 'assistant' && message.content !== undefined && !isRejected(message),
    )
    return last?.role === 'assistant' ? (last.content ?? '') : ''
  }

  /** Returns all messages, to resume with; marks incomplete ones. Takes no more events. */
  close(): readonly Message[] {
    if (!this.#stream.ended) this.#stream.finish({ type: 'cancelled', mark: cutOffMark })
    return this.messages
  }
}

type HiddenMessageEvent = Exclude<AgentEvent, { type: 'MESSAGES_SNAPSHOT' }>

function isMessageEvent(event: AgentEvent): event is HiddenMessageEvent {
  if (event.type === 'CUSTOM') return event.name === retryEventName || event.name === rewriteEventName
  return /^(TEXT|REASONING|TOOL_CALL|SUBAGENT)_/.test(event.type)
}

function discard(): void {
  // Only the fold of this stream matters.
}
