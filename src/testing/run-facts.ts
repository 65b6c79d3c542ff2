import type { Message } from '@ag-ui/core'
import type { AgUiEvent, EventOf } from '../protocol/index.js'

/** What the rules need to know of the stream so far. Everything but `threadId` is about the current run. */
export interface RunFacts {
  /** The thread of the first run of the stream. */
  readonly threadId: string | undefined
  readonly started: { readonly event: EventOf<'RUN_STARTED'>; readonly index: number } | undefined
  readonly ended: boolean
  /** Tool calls started, by id, with the tool's name; in order. */
  readonly calls: ReadonlyMap<string, string>
  /** Ids of the tool calls that got a result. */
  readonly answered: ReadonlySet<string>
  /** Subagents started, with how they ended so far. */
  readonly subagents: ReadonlyMap<string, SubagentPhase>
  /** Ids of the messages streamed, with the kind of stream. */
  readonly streamed: ReadonlyMap<string, 'reasoning' | 'conversation'>
  /** What the client has from elsewhere than this run's stream. */
  readonly held: Held
}

/** Ids of messages that have content, and of tool calls. */
interface Held {
  readonly messages: ReadonlySet<string>
  readonly calls: ReadonlySet<string>
}

type SubagentPhase =
  | { readonly type: 'active' | 'success' | 'error' }
  | { readonly type: 'suspended'; readonly interruptIds: readonly string[] }

/** The facts before a run, to a client that holds these messages. */
export function initialFacts(messages: readonly Message[]): RunFacts {
  return {
    threadId: undefined,
    started: undefined,
    ended: false,
    calls: new Map(),
    answered: new Set(),
    subagents: new Map(),
    streamed: new Map(),
    held: heldIn(messages),
  }
}

/** One event and its place. */
export interface FactsStep {
  readonly event: AgUiEvent
  readonly index: number
  /** What the client holds before the event. */
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
    case 'SUBAGENT_STARTED':
    case 'SUBAGENT_FINISHED':
    case 'SUBAGENT_ERROR':
      return { ...facts, subagents: withEntry(facts.subagents, event.subagentRunId, phaseAfter(event)) }
    default:
      return facts
  }
}

function afterSnapshot(facts: RunFacts, { messages }: EventOf<'MESSAGES_SNAPSHOT'>): RunFacts {
  const ids = new Set(messages.map(({ id }) => id))
  const isKept = ([id, kind]: [string, string]): boolean => kind === 'reasoning' || ids.has(id)
  const fresh = heldIn(messages.filter(({ id }) => !facts.streamed.has(id)))
  const calls = heldIn(messages).calls
  return {
    ...facts,
    // An id the snapshot lost is reported once, with this snapshot.
    streamed: new Map([...facts.streamed].filter(isKept)),
    held: {
      messages: new Set([...[...facts.held.messages].filter((id) => ids.has(id)), ...fresh.messages]),
      calls: new Set([...[...facts.held.calls].filter((id) => calls.has(id)), ...fresh.calls]),
    },
  }
}

function phaseAfter(
  event: EventOf<'SUBAGENT_STARTED' | 'SUBAGENT_FINISHED' | 'SUBAGENT_ERROR'>,
): SubagentPhase {
  if (event.type === 'SUBAGENT_STARTED') return { type: 'active' }
  if (event.type === 'SUBAGENT_ERROR') return { type: 'error' }
  if (event.outcome?.type !== 'suspended') return { type: 'success' }
  return { type: 'suspended', interruptIds: event.outcome.interruptIds ?? [] }
}

function heldIn(messages: readonly Message[]): Held {
  const withContent = messages.filter(({ content }) => content)
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  return { messages: new Set(withContent.map(({ id }) => id)), calls: new Set(calls.map(({ id }) => id)) }
}

function withEntry<V>(map: ReadonlyMap<string, V>, key: string, value: V): Map<string, V> {
  return new Map(map).set(key, value)
}
