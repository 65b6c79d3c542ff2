import type { Message } from '@ag-ui/core'
import { isRecord } from '../../core/json.js'
import {
  lostEventName,
  retryEventName,
  rewriteEventName,
  type AgUiEvent,
  type EventOf,
} from '../../protocol/index.js'

/** Facts about the stream so far that rules need. All but `threadId` are about the current run. */
export interface RunFacts {
  /** The thread of the first run of the stream. */
  readonly threadId: string | undefined
  readonly started: { readonly event: EventOf<'RUN_STARTED'>; readonly index: number } | undefined
  readonly ended: boolean
  /** Tool calls started, by id, with the tool's name; in order. */
  readonly calls: ReadonlyMap<string, string>
  /** Ids of the tool calls that got a result. */
  readonly answered: ReadonlySet<string>
  /** Subagents started, each with its phase. */
  readonly subagents: ReadonlyMap<string, SubagentPhase>
  /** Ids of the messages streamed, with the kind of stream. */
  readonly streamed: ReadonlyMap<string, 'reasoning' | 'conversation'>
  /** Ids of messages that Millrace's own events have taken back. */
  readonly retracted: ReadonlySet<string>
  /** The new versions of messages that Millrace's own events have rewritten, by id. */
  readonly rewritten: ReadonlyMap<string, Readonly<Record<string, unknown>>>
  /** Messages and calls the client has, but not from this run's stream. */
  readonly known: KnownIds
}

/** Ids of messages that have content, and of tool calls. */
interface KnownIds {
  readonly messages: ReadonlySet<string>
  readonly calls: ReadonlySet<string>
}

type SubagentPhase =
  | { readonly type: 'active' | 'success' | 'error' }
  | { readonly type: 'suspended'; readonly interruptIds: readonly string[] }

/** The facts before a run of a client that holds these messages. */
export function initialFacts(messages: readonly Message[]): RunFacts {
  return {
    threadId: undefined,
    started: undefined,
    ended: false,
    calls: new Map(),
    answered: new Set(),
    subagents: new Map(),
    streamed: new Map(),
    retracted: new Set(),
    rewritten: new Map(),
    known: knownIdsIn(messages),
  }
}

/** One event and its index. */
export interface FactsStep {
  readonly event: AgUiEvent
  readonly index: number
  /** The client's messages before the event. */
  readonly messages: readonly Message[]
}

/** The facts after one more event. */
export function nextFacts(facts: RunFacts, { event, index, messages }: FactsStep): RunFacts {
  switch (event.type) {
    case 'RUN_STARTED':
      return {
        ...initialFacts([...messages, ...(event.input?.messages ?? [])]),
        threadId: facts.threadId ?? event.threadId,
        started: { event, index },
      }
    case 'RUN_FINISHED':
    case 'RUN_ERROR':
      return { ...facts, ended: true }
    case 'TEXT_MESSAGE_START':
      return { ...facts, streamed: withEntry(facts.streamed, event.messageId, 'conversation') }
    case 'REASONING_MESSAGE_START':
      return { ...facts, streamed: withEntry(facts.streamed, event.messageId, 'reasoning') }
    case 'TOOL_CALL_START':
      return {
        ...facts,
        calls: withEntry(facts.calls, event.toolCallId, event.toolCallName),
        streamed: withEntry(facts.streamed, event.parentMessageId ?? event.toolCallId, 'conversation'),
      }
    case 'TOOL_CALL_RESULT':
      return {
        ...facts,
        answered: new Set([...facts.answered, event.toolCallId]),
        streamed: withEntry(facts.streamed, event.messageId, 'conversation'),
      }
    case 'MESSAGES_SNAPSHOT':
      return afterSnapshot(facts, event)
    case 'CUSTOM':
      return afterCustomEvent(facts, event)
    case 'SUBAGENT_STARTED':
    case 'SUBAGENT_FINISHED':
    case 'SUBAGENT_ERROR':
      return {
        ...facts,
        subagents: withEntry(facts.subagents, event.subagentRunId, subagentPhaseAfter(event)),
      }
    default:
      return facts
  }
}

function afterSnapshot(facts: RunFacts, { messages }: EventOf<'MESSAGES_SNAPSHOT'>): RunFacts {
  const ids = new Set(messages.map(({ id }) => id))
  const isKept = ([id, kind]: [string, string]): boolean => kind === 'reasoning' || ids.has(id)
  const fresh = knownIdsIn(messages.filter(({ id }) => !facts.streamed.has(id)))
  const calls = knownIdsIn(messages).calls
  return {
    ...facts,
    calls: new Map([...facts.calls].filter(([id]) => calls.has(id))),
    // An id the snapshot lost is reported once, with this snapshot.
    streamed: new Map([...facts.streamed].filter(isKept)),
    known: {
      messages: new Set([...[...facts.known.messages].filter((id) => ids.has(id)), ...fresh.messages]),
      calls: new Set([...[...facts.known.calls].filter((id) => calls.has(id)), ...fresh.calls]),
    },
  }
}

function afterCustomEvent(facts: RunFacts, { name, value }: EventOf<'CUSTOM'>): RunFacts {
  // The snapshot that follows brings the thread without the lost events, whatever they were.
  if (name === lostEventName)
    return { ...facts, streamed: new Map(), retracted: new Set(), rewritten: new Map() }
  if ((name !== retryEventName && name !== rewriteEventName) || !isRecord(value)) return facts
  const { messageIds, messages } = value
  const ids: readonly unknown[] = Array.isArray(messageIds) ? messageIds : []
  const rewritten = (Array.isArray(messages) ? messages : []).filter(isRecord)
  return {
    ...facts,
    retracted: new Set([...facts.retracted, ...ids.map(String)]),
    rewritten: new Map([...facts.rewritten, ...rewritten.map((one) => [String(one.id), one] as const)]),
  }
}

function subagentPhaseAfter(
  event: EventOf<'SUBAGENT_STARTED' | 'SUBAGENT_FINISHED' | 'SUBAGENT_ERROR'>,
): SubagentPhase {
  if (event.type === 'SUBAGENT_STARTED') return { type: 'active' }
  if (event.type === 'SUBAGENT_ERROR') return { type: 'error' }
  if (event.outcome?.type !== 'suspended') return { type: 'success' }
  return { type: 'suspended', interruptIds: event.outcome.interruptIds ?? [] }
}

function knownIdsIn(messages: readonly Message[]): KnownIds {
  const withContent = messages.filter(({ content }) => content)
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  return { messages: new Set(withContent.map(({ id }) => id)), calls: new Set(calls.map(({ id }) => id)) }
}

function withEntry<V>(map: ReadonlyMap<string, V>, key: string, value: V): Map<string, V> {
  return new Map(map).set(key, value)
}
