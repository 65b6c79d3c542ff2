import { isRecord } from '../../core/is-record.js'
import type { GraphEvent } from '../graph-event.js'
import { resultContent } from './content.js'
import { isCommand, isTool, messagesIn } from './found-messages.js'
import { toText } from './json-safe.js'
import type { Places } from './places.js'
import type { EventSink } from '../../agents/index.js'
import { tagged } from './tagged.js'
import type { StateMessages } from './state-messages.js'
import type { ToolCalls } from './tool-calls.js'

type EventOf<T extends GraphEvent['type']> = Extract<GraphEvent, { type: T }>

interface ToolRun {
  readonly name: string
  readonly toolCallId: string | undefined
}

export interface ToolRunsOptions {
  readonly sink: EventSink
  readonly places: Places
  readonly calls: ToolCalls
  readonly messages: StateMessages
  /** A value as JSON can carry it. */
  readonly safe: (value: unknown, what: string) => unknown
}

/** Tools at work. Those that a model has called answer its calls; those that code calls are told as CUSTOM events. */
export class ToolRuns {
  readonly #options: ToolRunsOptions
  readonly #runs = new Map<string, ToolRun>()

  constructor(options: ToolRunsOptions) {
    this.#options = options
  }

  start({ runId, parentRunId, name, input, toolCallId }: EventOf<'tool-start'>): void {
    const { places, calls, messages } = this.#options
    const { span } = places.enter(runId, parentRunId, toolCallId === undefined ? undefined : { toolCallId })
    this.#runs.set(runId, { name, toolCallId })
    if (toolCallId === undefined) {
      this.#tell(runId, { status: 'started', input: parsed(input) })
      return
    }
    if (!calls.isKnown(toolCallId)) messages.reveal(toolCallId)
    if (!calls.isKnown(toolCallId))
      calls.whole({ id: toolCallId, name, parentMessageId: undefined, span }, argsOf(input))
  }

  output({ runId, chunk }: EventOf<'tool-output'>): void {
    const { name, toolCallId } = this.#runs.get(runId) ?? { name: undefined, toolCallId: undefined }
    const { sink, places, safe } = this.#options
    const value = {
      ...(toolCallId === undefined ? { runId } : { toolCallId }),
      ...(name === undefined ? {} : { name }),
      chunk: safe(chunk, 'the output of a tool') ?? null,
    }
    sink.add({ type: 'CUSTOM', name: 'langgraph.tool_output', value, ...tagged(places.of(runId).span) })
  }

  end({ runId, output }: EventOf<'tool-end'>): void {
    const { places, calls, messages, safe } = this.#options
    const { span } = places.of(runId)
    const { toolCallId } = this.#runs.get(runId) ?? {}
    const results = messagesIn(output).filter(isTool)
    for (const message of results) messages.result(message, span)
    if (toolCallId === undefined)
      this.#tell(runId, { status: 'finished', output: safe(output, 'the output of a tool') ?? null })
    // A Command is no result: it has one in it, or the graph goes on without.
    else if (results.length === 0 && !hasCommand(output))
      calls.result({ toolCallId, content: resultContent(output, toText), span })
    this.#forget(runId)
  }

  error({ runId, error, isInterrupt }: EventOf<'tool-error'>): void {
    if (isInterrupt) this.#options.places.noteAsked(runId, error)
    // What went wrong is for the graph, which may give it to the model as a result. It may hold secrets.
    else if (this.#runs.get(runId)?.toolCallId === undefined) this.#tell(runId, { status: 'failed' })
    this.#forget(runId)
  }

  #tell(runId: string, fields: Readonly<Record<string, unknown>>): void {
    const run = this.#runs.get(runId)
    if (!run) return
    const { sink, places } = this.#options
    const value = { name: run.name, runId, ...fields }
    sink.add({ type: 'CUSTOM', name: 'langgraph.tool', value, ...tagged(places.of(runId).span) })
  }

  #forget(runId: string): void {
    this.#runs.delete(runId)
    this.#options.places.leave(runId)
  }
}

function hasCommand(output: unknown): boolean {
  return Array.isArray(output) ? output.some(isCommand) : isCommand(output)
}

function parsed(input: string): unknown {
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}

/** Arguments are an object. A tool that takes a text calls it `input`. */
function argsOf(input: string): string {
  return isRecord(parsed(input)) ? input : JSON.stringify({ input: parsed(input) })
}
