import type { EventSink } from '../../bridge/event-sink.js'
import { spanTag } from '../../bridge/spans.js'
import { isRecord, parseJson } from '../../core/json.js'
import type { GraphEventOf } from '../contract.js'
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
  /** Undefined for a tool that code of the graph calls directly. */
  readonly toolCallId: string | undefined
}

/** Translates runs of tools. A model's tool call gets a result; a direct call by code is shown as CUSTOM events. */
export class ToolRuns {
  readonly #options: ToolRunsOptions
  readonly #runs = new Map<string, ToolRun>()

  constructor(options: ToolRunsOptions) {
    this.#options = options
  }

  start({ runId, parentRunId, name, input, toolCallId }: GraphEventOf<'tool-start'>): void {
    const { spans, calls, messages } = this.#options
    const own = toolCallId === undefined ? undefined : { toolCallId }
    const { subagentRunId } = spans.enter(runId, parentRunId, own)
    this.#runs.set(runId, { name, toolCallId })
    if (toolCallId === undefined) {
      this.#writeDirectCall(runId, { status: 'started', input: readInput(input) })
      return
    }
    if (!calls.has(toolCallId)) messages.writeCaller(toolCallId)
    if (!calls.has(toolCallId)) calls.write({ id: toolCallId, name, subagentRunId }, toArgsObject(input))
  }

  output({ runId, chunk }: GraphEventOf<'tool-output'>): void {
    const { name, toolCallId } = this.#runs.get(runId) ?? { name: undefined, toolCallId: undefined }
    const { sink, spans, visible } = this.#options
    const value = {
      ...(toolCallId === undefined ? { runId } : { toolCallId }),
      ...(name === undefined ? {} : { name }),
      chunk: visible.toSafe(chunk, 'the output of a tool') ?? null,
    }
    const tag = spanTag(spans.of(runId).subagentRunId)
    sink.add({ type: 'CUSTOM', name: 'langgraph.tool_output', value, ...tag })
  }

  end({ runId, output }: GraphEventOf<'tool-end'>): void {
    const { spans, calls, messages, visible } = this.#options
    const { subagentRunId } = spans.of(runId)
    const { toolCallId } = this.#runs.get(runId) ?? {}
    const results = messagesIn(output).filter(isToolMessage)
    for (const message of results) messages.writeResult(message, subagentRunId)
    if (toolCallId === undefined) {
      const safe = visible.toSafe(output, 'the output of a tool') ?? null
      this.#writeDirectCall(runId, { status: 'finished', output: safe })
    }
    // A Command is not a result: it contains one, or the graph continues without.
    else if (results.length === 0 && !hasCommand(output))
      calls.result({ toolCallId, content: toToolResultContent(output), subagentRunId })
    this.#remove(runId)
  }

  error({ runId, error, isInterrupt }: GraphEventOf<'tool-error'>): void {
    if (isInterrupt) this.#options.spans.addInterrupts(runId, error)
    // The error may contain secrets. The graph decides whether the model gets it as a result.
    else if (this.#runs.get(runId)?.toolCallId === undefined)
      this.#writeDirectCall(runId, { status: 'failed' })
    this.#remove(runId)
  }

  #writeDirectCall(runId: string, fields: Readonly<Record<string, unknown>>): void {
    const run = this.#runs.get(runId)
    if (!run) return
    const { sink, spans } = this.#options
    const value = { name: run.name, runId, ...fields }
    sink.add({ type: 'CUSTOM', name: 'langgraph.tool', value, ...spanTag(spans.of(runId).subagentRunId) })
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
