import { PROTOCOL_VERSION, type TokenUsage } from '@ag-ui/core'
import type { Event } from '@google/adk'
import type { EventMark } from '../../../src/adk/session/marks.js'
import { AdkTranslator, type AdkTranslatorOptions } from '../../../src/adk/translate/adk-translator.js'
import { sequentialIds } from '../../../src/core/ids.js'
import { createRunStream, type AgentEvent, type AgUiEvent } from '../../../src/protocol/index.js'
import { assertValidStream } from '../../../src/testing/index.js'

export interface Translated {
  readonly translator: AdkTranslator
  /** The events of the translator for each event of ADK; last those of `finish`. */
  readonly batches: readonly (readonly AgentEvent[])[]
  readonly loose: readonly AgentEvent[]
  /** The strict stream that clients get. */
  readonly stream: readonly AgUiEvent[]
  readonly messages: readonly Record<string, unknown>[]
  readonly usage: readonly TokenUsage[]
  /** Problems reported by the translator and by the run stream. */
  readonly problems: readonly string[]
  readonly marks: readonly EventMark[]
}

/**
 * Translates the events of a run as the Runner gives them: each that is not partial is stored, and marked, before it is
 * yielded. The events are frozen, since sessions hold them; the stream is linted.
 */
export function translateEvents(
  events: readonly Event[],
  options: Partial<AdkTranslatorOptions> & { readonly messages?: readonly Record<string, unknown>[] } = {},
): Translated {
  const usage: TokenUsage[] = []
  const problems: string[] = []
  const emitted: AgUiEvent[] = []
  const report = (problem: string) => void problems.push(problem)
  const translator = new AdkTranslator({
    runId: 'run',
    rootAuthor: 'root',
    isAgent: () => true,
    hidesText: () => false,
    wireName: (name) => name,
    isClientTool: () => false,
    parentSubagentRunId: undefined,
    newId: sequentialIds(),
    changeState: (snapshot) => ({ type: 'STATE_SNAPSHOT', snapshot: { ...snapshot } }),
    addUsage: (entry) => void usage.push(entry),
    report,
    ...options,
  })
  const { messages = [] } = options
  const ids = { threadId: 'thread', runId: 'run' }
  const input = { ...ids, messages, tools: [], context: [], state: {}, protocolVersion: PROTOCOL_VERSION }
  const stream = createRunStream({
    ...ids,
    messages: messages as never,
    state: {},
    emit: (event) => void emitted.push(event),
    onProblem: report,
  })
  const marks: EventMark[] = []
  const batches = events.map((event) => {
    deepFreeze(event)
    if (event.partial !== true) marks.push(translator.mark(event))
    return translator.translate(event)
  })
  batches.push(translator.finish())
  const loose = batches.flat()
  for (const event of loose) stream.write(event)
  stream.finish({ type: 'success' })
  assertValidStream(emitted, { input })
  const folded = stream.fold.messages as unknown as Record<string, unknown>[]
  return { translator, batches, loose, stream: emitted, messages: folded, usage, problems, marks }
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const member of Object.values(value)) deepFreeze(member)
}

/** An event as ADK makes it. */
export function adkEvent(fields: Partial<Event>): Event {
  return {
    id: 'e',
    invocationId: 'i',
    timestamp: 0,
    author: 'root',
    longRunningToolIds: [],
    ...fields,
    actions: {
      stateDelta: {},
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
      ...fields.actions,
    },
  }
}

type Parts = NonNullable<NonNullable<Event['content']>['parts']>

/** A chunk of a streamed answer. */
export function chunkOf(text: string, fields: Partial<Event> = {}): Event {
  return adkEvent({ partial: true, content: { role: 'model', parts: [{ text }] }, ...fields })
}

/** A complete answer. */
export function wholeOf(parts: Parts | string, fields: Partial<Event> = {}): Event {
  const given = typeof parts === 'string' ? [{ text: parts }] : parts
  return adkEvent({ partial: false, content: { role: 'model', parts: given }, ...fields })
}

/** The result of a tool. */
export function responseOf(
  id: string,
  response: Record<string, unknown>,
  fields: Partial<Event> & { readonly name?: string } = {},
): Event {
  const { name = 'tool', ...rest } = fields
  return adkEvent({
    content: { role: 'user', parts: [{ functionResponse: { id, name, response } }] },
    ...rest,
  })
}

/** A conversation in short: `assistant[name]: content (calls)`. */
export function messageLines({ messages }: Pick<Translated, 'messages'>): string[] {
  return messages.map((message) => {
    const { role, name, content = '' } = message as Partial<Record<string, string>>
    const calls = (message.toolCalls ?? []) as { readonly function: { readonly name: string } }[]
    const names = calls.map((call) => call.function.name).join(', ')
    return `${role ?? ''}${name === undefined ? '' : `[${name}]`}: ${content}${names === '' ? '' : ` (${names})`}`
  })
}
