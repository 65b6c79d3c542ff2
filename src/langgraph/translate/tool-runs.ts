import type { EventSink } from '../../bridge/event-sink.js'
import { spanTag } from '../../bridge/spans.js'
import { stableHash } from '../../core/ids.js'
import { isRecord, parseJson } from '../../core/json.js'
import { toolErrorMark } from '../../protocol/index.js'
import type { GraphEventOf } from '../contract.js'
import { shownOnlyId } from '../messages/shown-only.js'
import type { GraphSpans } from './spans.js'
import {
  isCommand,
  isToolMessage,
  messagesIn,
  toToolResultContent,
  type StateMessages,
} from './state-messages.js'
import type { GraphToolCalls } from './tool-calls.js'
import type { VisibleState } from './visible-state.js'

export interface ToolRunsOptions {
  readonly sink: EventSink
  readonly spans: GraphSpans
  readonly calls: GraphToolCalls
  readonly messages: StateMessages
  readonly visible: VisibleState
}

interface ToolRun {
  readonly name: string
  /** The id that clients have for the call. */
  readonly toolCallId: string
  /** The graph's own id. Undefined if code of the graph calls the tool, not a model. */
  readonly givenId: string | undefined
}

/** Translates runs of tools: a model's tool call gets its result, a direct call by code is shown as a call too. */
export class ToolRuns {
  readonly #options: ToolRunsOptions
  readonly #runs = new Map<string, ToolRun>()
  /** The number of direct calls, by the run that makes them and the tool. */
  readonly #directCounts = new Map<string, number>()
  readonly #failedDirect = new Set<string>()

  constructor(options: ToolRunsOptions) {
    this.#options = options
  }

  start(event: GraphEventOf<'tool-start'>): void {
    const { runId, parentRunId, name, input, toolCallId: givenId } = event
    const { spans, calls, messages } = this.#options
    if (givenId !== undefined) messages.writeCaller(givenId)
    const toolCallId = givenId === undefined ? this.#directCallId(event) : calls.newestId(givenId)
    const { subagentRunId } = spans.enter(runId, parentRunId, { toolCallId })
    this.#runs.set(runId, { name, toolCallId, givenId })
    if (!calls.has(toolCallId)) calls.write({ id: toolCallId, name, subagentRunId }, toArgsObject(input))
  }

  output({ runId, chunk }: GraphEventOf<'tool-output'>): void {
    const { name, toolCallId } = this.#runs.get(runId) ?? { name: undefined, toolCallId: undefined }
    const { sink, spans, visible } = this.#options
    const sent = visible.toSent(chunk ?? null, `The output of tool '${name ?? ''}'`)
    if (sent === undefined) return
    const value = {
      ...(toolCallId === undefined ? { runId } : { toolCallId }),
      ...(name === undefined ? {} : { name }),
      chunk: sent,
    }
    const tag = spanTag(spans.of(runId).subagentRunId)
    sink.add({ type: 'CUSTOM', name: 'langgraph.tool_output', value, ...tag })
  }

  end({ runId, output }: GraphEventOf<'tool-end'>): void {
    const { spans, calls, messages } = this.#options
    const { subagentRunId } = spans.of(runId)
    const { name = '', toolCallId, givenId } = this.#runs.get(runId) ?? {}
    const results = messagesIn(output).filter(isToolMessage)
    for (const message of results) {
      const id = message.tool_call_id === givenId ? toolCallId : undefined
      messages.writeResult(message, id ?? calls.newestId(message.tool_call_id), subagentRunId)
    }
    // A Command is not a result: it contains one, or the graph continues without.
    const value = hasCommand(output) ? '' : (results.at(-1)?.content ?? this.#toSent(name, output))
    const isDirect = givenId === undefined
    if (toolCallId !== undefined && (isDirect || (results.length === 0 && !hasCommand(output))))
      calls.result({ toolCallId, content: toToolResultContent(value), subagentRunId })
    this.#remove(runId)
  }

  error({ runId, error, isInterrupt }: GraphEventOf<'tool-error'>): void {
    if (isInterrupt) this.#options.spans.addInterrupts(runId, error)
    else this.#failDirect(runId)
    this.#remove(runId)
  }

  /** What a tool returned, as JSON. Clients wait for a result, so they get one for a value that is not JSON too. */
  #toSent(name: string, output: unknown): unknown {
    const sent = this.#options.visible.toSent(output ?? '', `The result of tool '${name}'`)
    return sent ?? 'The result cannot be shown: it is not JSON.'
  }

  /** The error may contain secrets. The graph decides whether a model gets it as the result of its call. */
  #failDirect(runId: string): void {
    const { toolCallId, givenId } = this.#runs.get(runId) ?? {}
    if (toolCallId === undefined || givenId !== undefined) return
    this.#failedDirect.add(toolCallId)
    const { calls, spans } = this.#options
    const { subagentRunId } = spans.of(runId)
    calls.result({ toolCallId, content: 'The tool has failed.', metadata: toolErrorMark, subagentRunId })
  }

  /** A node that is resumed makes its direct calls again, under the same ids: clients see each once. */
  #directCallId({ runId, parentRunId, ns, name }: GraphEventOf<'tool-start'>): string {
    const counted = `${parentRunId ?? runId} ${name}`
    let id: string
    do {
      const count = this.#directCounts.get(counted) ?? 0
      this.#directCounts.set(counted, count + 1)
      id = shownOnlyId(stableHash(`${ns || runId} ${name} ${count}`))
    } while (this.#failedDirect.has(id))
    return id
  }

  #remove(runId: string): void {
    this.#runs.delete(runId)
    this.#options.spans.leave(runId)
  }
}

function hasCommand(output: unknown): boolean {
  return Array.isArray(output) ? output.some(isCommand) : isCommand(output)
}

/** The input is JSON, unless a hook has changed it. */
function readInput(input: string): unknown {
  const value = parseJson(input)
  return value === undefined ? input : value
}

/** Arguments are an object. A tool that takes a plain value calls it `input`. */
function toArgsObject(input: string): string {
  const value = readInput(input)
  return isRecord(value) ? input : JSON.stringify({ input: value })
}
