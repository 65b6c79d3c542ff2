import type { Interrupt, Message, TokenUsage } from '@ag-ui/core'
import { createFold, type AgUiEvent, type EventOf, type Fold } from '../protocol/index.js'
import type { PendingCall, Subagent } from './contract.js'
import { pendingCallsOf } from './pending-calls.js'
import { share, shareMessages } from './share.js'
import type { ThreadFacts } from './thread-facts.js'

/** The part of a snapshot that comes from the server. */
export interface ContentSnapshot {
  readonly messages: readonly Message[]
  readonly state: unknown
  readonly interrupts: readonly Interrupt[]
  readonly pendingToolCalls: readonly PendingCall[]
  readonly subagents: readonly Subagent[]
  readonly usage: readonly TokenUsage[]
}

/** A whole thread that is on its way: it takes the place of what is there when its state has come. */
interface Replacement {
  readonly fold: Fold
  readonly facts: ThreadFacts
}

/** One list for all that is empty: it keeps its identity. */
export const none: readonly never[] = []

/** What a thread holds, as the fold of its events, and snapshots of it that keep the identity of what has not changed. */
export class ThreadContent {
  #fold: Fold = createFold()
  #replacement: Replacement | undefined
  #snapshot: ContentSnapshot = {
    messages: none,
    state: this.#fold.state,
    ...{ interrupts: none, pendingToolCalls: none, subagents: none, usage: none },
  }
  #hasNewMessages = false

  get messages(): readonly Message[] {
    return this.#fold.messages
  }

  /** The latest parts. Messages and state may have gone on. */
  get parts(): Omit<ContentSnapshot, 'messages' | 'state'> {
    return this.#snapshot
  }

  /** The same object until something changes. None of it changes later. */
  snapshot(): ContentSnapshot {
    const { state } = this.#fold
    if (this.#hasNewMessages) {
      this.#hasNewMessages = false
      const { messages } = this.#fold.settle()
      // A list that has been shown must not grow.
      this.change({ messages: [...messages] })
    }
    if (state !== this.#snapshot.state) this.change({ state })
    return this.#snapshot
  }

  change(part: Partial<ContentSnapshot>): void {
    const keys = Object.keys(part) as (keyof ContentSnapshot)[]
    if (keys.some((key) => part[key] !== this.#snapshot[key])) this.#snapshot = { ...this.#snapshot, ...part }
  }

  /** A whole thread comes next. Without facts, none does. */
  expect(facts?: ThreadFacts): void {
    this.#replacement = facts && { fold: createFold(), facts }
  }

  hasMessage(id: string): boolean {
    return this.#fold.messages.some((message) => message.id === id)
  }

  /** Adds messages that the server has taken from this client. */
  addSent(messages: readonly Message[]): void {
    for (const message of messages) {
      if (this.hasMessage(message.id)) continue
      this.#hasNewMessages = true
      if (message.role !== 'tool') {
        const input = { threadId: '', runId: '', messages: [message], tools: [], context: [] }
        this.#fold.apply({ type: 'RUN_STARTED', threadId: '', runId: '', input })
        continue
      }
      const { id: messageId, toolCallId, content, metadata } = message
      this.#fold.apply({
        ...{ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content },
        ...(metadata === undefined ? {} : { metadata }),
      })
      this.removePending(toolCallId)
    }
  }

  /** Takes in a change of the state that the server has confirmed. */
  patch(delta: EventOf<'STATE_DELTA'>['delta']): string | undefined {
    return this.#fold.apply({ type: 'STATE_DELTA', delta })
  }

  /** Takes in one event. Returns the facts of a whole thread that it has completed. */
  apply(event: AgUiEvent): ThreadFacts | undefined {
    const replacement = this.#replacement
    const fold = replacement?.fold ?? this.#fold
    switch (event.type) {
      case 'MESSAGES_SNAPSHOT': {
        const messages = [...shareMessages(this.#fold.messages, event.messages)]
        this.#hasNewMessages ||= !replacement
        fold.apply({ ...event, messages })
        break
      }
      case 'STATE_SNAPSHOT':
        fold.apply({ ...event, snapshot: share(this.#fold.state, event.snapshot) as unknown })
        return replacement && this.#replace(replacement)
      case 'RUN_STARTED':
        // Its echo of the request may have what another client has sent.
        if (event.input) this.#hasNewMessages = true
        fold.apply(event)
        break
      default:
        if (changesMessages(event)) this.#hasNewMessages = true
        fold.apply(event)
        return undefined
    }
    this.#reviewPending()
    return undefined
  }

  #replace({ fold, facts }: Replacement): ThreadFacts {
    const { messages } = this.#fold
    this.#fold = fold
    this.#replacement = undefined
    const isSame =
      fold.messages.length === messages.length && fold.messages.every((one, index) => one === messages[index])
    this.#hasNewMessages ||= !isSame
    this.#reviewPending()
    return facts
  }

  /** Messages that came as a whole may have results that another client has given. */
  #reviewPending(): void {
    const { pendingToolCalls } = this.#snapshot
    if (pendingToolCalls.length > 0) this.setPending(pendingToolCalls.map(({ id }) => id))
  }

  setPending(ids: readonly string[]): void {
    const pending = pendingCallsOf(this.#fold.messages, ids)
    this.change({ pendingToolCalls: share(this.#snapshot.pendingToolCalls, pending) })
  }

  removePending(toolCallId: string): void {
    const { pendingToolCalls } = this.#snapshot
    if (pendingToolCalls.some(({ id }) => id === toolCallId))
      this.change({ pendingToolCalls: pendingToolCalls.filter(({ id }) => id !== toolCallId) })
  }
}

function changesMessages({ type }: AgUiEvent): boolean {
  return /^(TEXT|TOOL|REASONING|ACTIVITY)_/.test(type)
}
