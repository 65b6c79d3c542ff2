import { PROTOCOL_VERSION, type TokenUsage } from '@ag-ui/core'
import { AIMessageChunk, type ToolCallChunk, type UsageMetadata } from '@langchain/core/messages'
import { sequentialIds } from '../../../src/core/ids.js'
import { isEqual } from '../../../src/core/json.js'
import type { GraphEvent } from '../../../src/langgraph/contract.js'
import {
  GraphTranslator,
  type GraphTranslatorOptions,
} from '../../../src/langgraph/translate/graph-translator.js'
import { createRunStream, type AgentEvent, type AgUiEvent, type RunEnd } from '../../../src/protocol/index.js'
import { assertValidStream } from '../../../src/testing/index.js'

export interface Translated {
  readonly translator: GraphTranslator
  /** The events of each native event. */
  readonly batches: readonly (readonly AgentEvent[])[]
  readonly loose: readonly AgentEvent[]
  /** The stream that clients get. It is valid. */
  readonly stream: readonly AgUiEvent[]
  readonly messages: readonly Record<string, unknown>[]
  readonly state: unknown
  readonly usage: readonly TokenUsage[]
  /** Problems reported by the translator and by the run stream. */
  readonly problems: readonly string[]
}

export interface TranslateOptions extends Partial<GraphTranslatorOptions> {
  readonly end?: RunEnd
}

/** Translates a run event by event, through a run stream as in a server, and lints it. */
export function startTranslation(options: TranslateOptions = {}) {
  const usage: TokenUsage[] = []
  const problems: string[] = []
  const emitted: AgUiEvent[] = []
  const report = (problem: string) => void problems.push(problem)
  let state: unknown = {}
  const { end = { type: 'success' }, ...rest } = options
  const { messages = [] } = options
  const translator = new GraphTranslator({
    parentSubagentRunId: undefined,
    messages,
    isClientTool: () => false,
    isPrivate: () => false,
    subgraphs: 'subagents',
    newId: sequentialIds(),
    setState(next) {
      if (isEqual(next, state)) return undefined
      state = next
      return { type: 'STATE_SNAPSHOT', snapshot: next }
    },
    addUsage: (entry) => void usage.push(entry),
    report,
    ...rest,
  })
  const ids = { threadId: 'thread', runId: 'run' }
  const input = { ...ids, messages, tools: [], context: [], state: {}, protocolVersion: PROTOCOL_VERSION }
  const stream = createRunStream({
    ...ids,
    messages,
    state: {},
    emit: (event) => void emitted.push(event),
    onProblem: report,
  })
  const batches: (readonly AgentEvent[])[] = []
  const write = (batch: readonly AgentEvent[]) => {
    batches.push(batch)
    for (const event of batch) stream.write(event)
  }
  return {
    take: (event: GraphEvent) => write(translator.translate(event)),
    end(): Translated {
      translator.finish()
      stream.finish(end)
      assertValidStream(emitted, { input })
      const held = stream.fold.messages as unknown as Record<string, unknown>[]
      return {
        translator,
        batches,
        loose: batches.flat(),
        stream: emitted,
        messages: held,
        state,
        usage,
        problems,
      }
    },
  }
}

/** Translates the events of a whole run. */
export function translateEvents(events: readonly GraphEvent[], options: TranslateOptions = {}): Translated {
  const translation = startTranslation(options)
  for (const event of events) translation.take(event)
  return translation.end()
}

type Fields<T extends GraphEvent['type']> = Partial<Omit<Extract<GraphEvent, { type: T }>, 'type'>>

/** The start of a model call. */
export function modelStart(runId = 'm', fields: Fields<'model-start'> = {}): GraphEvent {
  return {
    type: 'model-start',
    runId,
    parentRunId: undefined,
    provider: undefined,
    model: undefined,
    isHidden: false,
    ...fields,
  }
}

/** The fields of a LangChain chunk. */
export interface ChunkFields {
  readonly content: string | readonly Readonly<Record<string, unknown>>[]
  readonly id?: string
  readonly additional_kwargs?: Readonly<Record<string, unknown>>
  readonly response_metadata?: Readonly<Record<string, unknown>>
  readonly tool_call_chunks?: readonly ToolCallChunk[]
  readonly usage_metadata?: UsageMetadata
}

/** A chunk of a model's message. */
export function modelChunk(fields: string | ChunkFields, runId = 'm'): GraphEvent {
  return { type: 'model-chunk', runId, message: new AIMessageChunk(fields as never) }
}

/** The end of a model call, with the sum of the chunks. */
export function modelEnd(pieces: readonly GraphEvent[], runId = 'm'): GraphEvent {
  const chunks = pieces.flatMap((event) =>
    event.type === 'model-chunk' && event.runId === runId ? [event.message] : [],
  )
  const [first, ...rest] = chunks
  return { type: 'model-end', runId, message: rest.reduce((sum, next) => sum?.concat(next), first) }
}

/** A whole model call, from its chunks. */
export function modelRun(pieces: readonly (string | ChunkFields)[], runId = 'm'): GraphEvent[] {
  const events = pieces.map((fields) => modelChunk(fields, runId))
  return [modelStart(runId), ...events, modelEnd(events, runId)]
}

/** A chunk of a tool call. */
export function callChunk(fields: {
  readonly id?: string
  readonly name?: string
  readonly args?: string
  readonly index?: number
}): ChunkFields {
  return { content: '', tool_call_chunks: [{ type: 'tool_call_chunk', ...fields }] }
}

export function toolStart(runId: string, fields: Fields<'tool-start'> = {}): GraphEvent {
  return {
    type: 'tool-start',
    runId,
    parentRunId: undefined,
    name: 'search',
    input: '{}',
    toolCallId: undefined,
    ns: 'node:1',
    ...fields,
  }
}

export function nodeStart(runId: string, node = runId, parentRunId?: string): GraphEvent {
  return { type: 'node-start', runId, parentRunId, node, ns: '' }
}

export function nodeEnd(runId: string, output: unknown = {}): GraphEvent {
  return { type: 'node-end', runId, output }
}

export function graphStart(runId: string, parentRunId?: string, name = runId): GraphEvent {
  return { type: 'graph-start', runId, parentRunId, name, isNode: false }
}

export function failed(
  what: 'node' | 'graph' | 'model' | 'tool',
  runId: string,
  error: unknown = new Error('no'),
): GraphEvent {
  return { type: `${what}-error`, runId, error, isInterrupt: false }
}

export function interrupted(what: 'node' | 'graph' | 'tool', runId: string, id = 'q'): GraphEvent {
  const error = Object.assign(new Error(), { name: 'GraphInterrupt', interrupts: [{ id, value: '?' }] })
  return { type: `${what}-error`, runId, error, isInterrupt: true }
}
