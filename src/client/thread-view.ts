import type { Interrupt, Message, TokenUsage, ToolCall } from '@ag-ui/core'
import type { MillraceError } from '../core/errors.js'
import { isRecord } from '../core/json.js'
import {
  createFold,
  lostEventName,
  parseEventId,
  threadEventName,
  type AgUiEvent,
  type EventOf,
  type EventPosition,
  type Fold,
} from '../protocol/index.js'
import type { PendingCall, RunResult, Subagent } from './contract.js'
import { toClientError } from './http.js'
import { share, shareMessages } from './share.js'

/** An event as it came, with its id if it had one. */
export interface StreamedEvent {
  readonly id?: string | undefined
  readonly event: AgUiEvent
}

/** A whole thread that is on its way: it takes the place of what is there when its state has come. */
interface Replacement {
  readonly fold: Fold
  readonly version: number | undefined
  /** Of a thread without a live run. */
  readonly rest?: { readonly pendingIds: readonly string[]; readonly lastRun: LastRun | undefined }
}

interface LastRun {
  readonly runId: string
  readonly status: string
  readonly error?: { readonly code: string; readonly message: string }
}

/** The part of a snapshot that comes from the server. */
export interface ViewSnapshot {
  readonly messages: readonly Message[]
  readonly state: unknown
  readonly interrupts: readonly Interrupt[]
  readonly pendingToolCalls: readonly PendingCall[]
  readonly subagents: readonly Subagent[]
  readonly usage: readonly TokenUsage[]
}

const none: readonly never[] = []

/** A thread as its events tell it. Takes each event once, and does a constant amount of work for it. */
export class ThreadView {
  /** The version of the thread that this is. Undefined: the server must show the whole thread again. */
  version: number | undefined
  isLoaded = false
  isRunning = false
  runId: string | undefined
  /** The runs that have ended, the latest last: what the streams have told of their end. */
  lastRun: RunResult | undefined
  error: MillraceError | undefined
  lastEventId: string | undefined
  #position: EventPosition | undefined
  #fold: Fold
  #replacement: Replacement | undefined
  #startedRunId: string | undefined
  #forkedTo: string | undefined
  /** Those that were open when the run began. One that fails leaves them open. */
  #interruptsBefore: readonly Interrupt[] = none
  #snapshot: ViewSnapshot
  #hasNewMessages = false

  constructor(version: number | undefined) {
    this.version = version
    this.isLoaded = version !== undefined
    this.#fold = createFold()
    this.#snapshot = {
      messages: none,
      state: this.#fold.state,
      ...{ interrupts: none, pendingToolCalls: none, subagents: none, usage: none },
    }
  }

  get messages(): readonly Message[] {
    return this.#fold.messages
  }

  get interrupts(): readonly Interrupt[] {
    return this.#snapshot.interrupts
  }

  get pendingToolCalls(): readonly PendingCall[] {
    return this.#snapshot.pendingToolCalls
  }

  /** The same object until something changes. None of it changes later. */
  snapshot(): ViewSnapshot {
    const { state } = this.#fold
    if (this.#hasNewMessages) {
      this.#hasNewMessages = false
      const messages = this.#fold.settle().messages
      // A list that has been shown must not grow.
      this.#change({ messages: [...messages] })
    }
    if (state !== this.#snapshot.state) this.#change({ state })
    return this.#snapshot
  }

  /** A stream begins. What an earlier one has left unfinished does not count. */
  open(): void {
    this.#replacement = undefined
  }

  /** Makes the server show the whole thread when it is asked next. */
  forget(): void {
    this.version = undefined
    this.lastEventId = undefined
    this.#position = undefined
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
      this.#removePending(toolCallId)
    }
  }

  /** Takes in a change of the state that the server has confirmed. */
  patch(delta: EventOf<'STATE_DELTA'>['delta']): string | undefined {
    return this.#fold.apply({ type: 'STATE_DELTA', delta })
  }

  /**
   * Takes in one event. `isOwn` is for the answer to a run of this client. Returns false for an event that it has already.
   */
  apply({ id, event }: StreamedEvent, isOwn: boolean): boolean {
    const position = id === undefined ? undefined : parseEventId(id)
    if (position && this.#isKnown(position)) return false
    const hasId = position !== undefined
    this.#applyToFold(event)
    this.#note(event, { hasId, isOwn })
    if (position) {
      this.#position = position
      this.lastEventId = id
    }
    return true
  }

  #isKnown({ runId, seq, after }: EventPosition): boolean {
    const last = this.#position
    if (last?.runId !== runId) return false
    // In an order of its own, a stream begins right after the event that was named.
    return after === undefined && last.after === undefined && seq <= last.seq
  }

  #applyToFold(event: AgUiEvent): void {
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
        if (replacement) this.#replace(replacement)
        break
      case 'RUN_STARTED':
        // Its echo of the request may have what another client has sent.
        if (event.input) this.#hasNewMessages = true
        fold.apply(event)
        break
      default:
        if (changesMessages(event)) this.#hasNewMessages = true
        fold.apply(event)
    }
  }

  #replace({ fold, version, rest }: Replacement): void {
    const { messages } = this.#fold
    this.#fold = fold
    this.#replacement = undefined
    this.version = version
    this.isLoaded = true
    const isSame =
      fold.messages.length === messages.length && fold.messages.every((one, index) => one === messages[index])
    this.#hasNewMessages ||= !isSame
    if (!rest) {
      this.isRunning = true
      this.runId = this.#startedRunId
      return
    }
    this.isRunning = false
    this.lastEventId = undefined
    this.#position = undefined
    this.#setPending(rest.pendingIds)
    this.#endWith(rest.lastRun)
  }

  #endWith(run: LastRun | undefined): void {
    const error = run?.error && toClientError(run.error)
    this.error = error
    this.runId = run?.runId
    if (run)
      this.lastRun = {
        runId: run.runId,
        status: statusOf(run.status, this.pendingToolCalls),
        ...(error && { error }),
      }
  }

  /** Keeps what events say of the run. */
  #note(event: AgUiEvent, { hasId, isOwn }: { readonly hasId: boolean; readonly isOwn: boolean }): void {
    switch (event.type) {
      case 'RUN_STARTED':
        return this.#start(event, hasId)
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        return this.#finish(event, { hasId, isOwn })
      case 'TOOL_CALL_RESULT':
        return this.#removePending(event.toolCallId)
      case 'CUSTOM':
        return this.#noteCustom(event)
      case 'SUBAGENT_STARTED':
      case 'SUBAGENT_FINISHED':
      case 'SUBAGENT_ERROR':
        return this.#change({ subagents: nextSubagents(this.#snapshot.subagents, event) })
      default:
        return undefined
    }
  }

  #start({ runId }: EventOf<'RUN_STARTED'>, hasId: boolean): void {
    this.#startedRunId = runId
    this.#forkedTo = undefined
    // Without an id it may be a thread at rest: the next event says so.
    if (!hasId) return
    this.isRunning = true
    this.isLoaded = true
    this.runId = runId
    this.error = undefined
    this.#interruptsBefore = this.interrupts
    this.#change({ interrupts: none, subagents: none, usage: none })
  }

  #finish(
    event: EventOf<'RUN_FINISHED' | 'RUN_ERROR'>,
    { hasId, isOwn }: { readonly hasId: boolean; readonly isOwn: boolean },
  ): void {
    const wasRun = hasId || isOwn
    this.isRunning = false
    if (event.type === 'RUN_FINISHED') {
      const { outcome } = event
      this.#change({
        interrupts: outcome?.type === 'interrupt' ? share(this.interrupts, outcome.interrupts) : none,
      })
      if (outcome?.type === 'success' && outcome.pendingToolCallIds)
        this.#setPending([...this.pendingToolCalls.map(({ id }) => id), ...outcome.pendingToolCallIds])
    } else {
      this.error = toClientError({ code: '', ...event })
      this.#change({ interrupts: this.#interruptsBefore })
    }
    if (!wasRun) return
    this.isLoaded = true
    if (event.usage) this.#change({ usage: event.usage })
    const outcome = event.type === 'RUN_ERROR' ? 'failed' : (event.outcome?.type ?? 'success')
    this.lastRun = {
      runId: this.#startedRunId ?? '',
      status: statusOf(outcome, this.pendingToolCalls),
      ...(event.type === 'RUN_ERROR' && this.error ? { error: this.error } : {}),
      ...(this.#forkedTo === undefined ? {} : { forkedTo: this.#forkedTo }),
    }
    // A run adds one version. One that failed, or that was none, may have added another number of them.
    const isCounted = hasId && event.type === 'RUN_FINISHED' && this.version !== undefined
    this.version = isCounted && this.version !== undefined ? this.version + 1 : undefined
  }

  #noteCustom({ name, value }: EventOf<'CUSTOM'>): void {
    const facts = isRecord(value) ? value : {}
    if (name === 'millrace.forked' && typeof facts.threadId === 'string') this.#forkedTo = facts.threadId
    if (name === lostEventName) this.#replacement = { fold: createFold(), version: undefined }
    if (name !== threadEventName) return
    const version = typeof facts.version === 'number' ? facts.version : undefined
    const calls = facts.pendingToolCalls as readonly { readonly id: string }[] | undefined
    const lastRun = facts.lastRun as LastRun | undefined
    this.#replacement = {
      ...{ fold: createFold(), version },
      ...(calls ? { rest: { pendingIds: calls.map(({ id }) => id), lastRun } } : {}),
    }
  }

  #setPending(ids: readonly string[]): void {
    const calls = callsWith(this.#fold.messages, new Set(ids))
    const pending = calls.map(({ id, function: { name, arguments: args } }) => ({
      id,
      name,
      arguments: args,
    }))
    this.#change({ pendingToolCalls: share(this.pendingToolCalls, pending) })
  }

  #removePending(toolCallId: string): void {
    if (!this.pendingToolCalls.some(({ id }) => id === toolCallId)) return
    this.#change({ pendingToolCalls: this.pendingToolCalls.filter(({ id }) => id !== toolCallId) })
  }

  #change(part: Partial<ViewSnapshot>): void {
    const keys = Object.keys(part) as (keyof ViewSnapshot)[]
    if (keys.some((key) => part[key] !== this.#snapshot[key])) this.#snapshot = { ...this.#snapshot, ...part }
  }
}

function changesMessages({ type }: AgUiEvent): boolean {
  return /^(TEXT|TOOL|REASONING|ACTIVITY)_/.test(type)
}

/** The calls with these ids that have no result, in the order of the messages. Looks from the end: they are there. */
function callsWith(messages: readonly Message[], ids: Set<string>): readonly ToolCall[] {
  const found: ToolCall[] = []
  for (let at = messages.length - 1; at >= 0 && ids.size > 0; at--) {
    const message = messages[at]
    if (message?.role === 'tool') ids.delete(message.toolCallId)
    if (message?.role !== 'assistant') continue
    const calls = (message.toolCalls ?? []).filter(({ id }) => ids.delete(id))
    found.unshift(...calls)
  }
  return found
}

function nextSubagents(
  subagents: readonly Subagent[],
  event: EventOf<'SUBAGENT_STARTED' | 'SUBAGENT_FINISHED' | 'SUBAGENT_ERROR'>,
): readonly Subagent[] {
  const id = event.subagentRunId
  if (event.type === 'SUBAGENT_STARTED') {
    const parent = event.parentSubagentRunId === undefined ? {} : { parentId: event.parentSubagentRunId }
    const others = subagents.filter((one) => one.id !== id)
    return [...others, { id, name: event.name, ...parent, status: 'running' }]
  }
  const isSuspended = event.type === 'SUBAGENT_FINISHED' && event.outcome?.type === 'suspended'
  const status = event.type === 'SUBAGENT_ERROR' ? 'failed' : isSuspended ? 'suspended' : 'finished'
  return subagents.map((one) => (one.id === id ? { ...one, status } : one))
}

/** From the outcome of an event, or the status of a stored run. */
function statusOf(outcome: string, pending: readonly PendingCall[]): RunResult['status'] {
  if (outcome === 'interrupt' || outcome === 'interrupted') return 'interrupted'
  if (outcome === 'cancelled') return 'cancelled'
  if (outcome !== 'success' && outcome !== 'completed') return 'failed'
  return pending.length > 0 ? 'waiting-for-tools' : 'completed'
}
