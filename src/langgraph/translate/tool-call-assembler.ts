import type { ToolCallChunk } from '@langchain/core/messages'
import type { PredictStateMapping } from '../../agents/index.js'
import type { EventSink } from '../../bridge/event-sink.js'
import { predictStateEvent } from '../../bridge/predict-state.js'
import { spanTag } from '../../bridge/spans.js'
import { parseJson } from '../../core/json.js'
import type { GraphToolCalls } from './tool-calls.js'
import { toSafeText } from './visible-state.js'

interface AssembledCall {
  readonly index: number | string | undefined
  /** The provider's id. */
  givenId: string | undefined
  /** The id that clients have. Undefined until the call is written. */
  toolCallId: string | undefined
  name: string | undefined
  /** The arguments so far. */
  args: string
  /** Clients have a call with this id already: its chunks are not written again. */
  isRepeat: boolean
}

export interface ToolCallAssemblerOptions {
  readonly calls: GraphToolCalls
  readonly subagentRunId: string | undefined
  /** The id of the message that the calls belong to. */
  readonly messageId: string
  readonly report: (problem: string) => void
  readonly sink: EventSink
  /** Tool arguments that clients may show as state. */
  readonly predictState?: readonly PredictStateMapping[]
}

/** A tool call in a whole message. */
export interface WholeToolCall {
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly args?: unknown
}

/**
 * Assembles the tool calls of one model message from their chunks. Providers differ: some number the calls, some give
 * ids, some repeat id and name in every chunk, some send each call at once without either.
 */
export class ToolCallAssembler {
  readonly #options: ToolCallAssemblerOptions
  readonly #all: AssembledCall[] = []
  #isPredicted = false

  constructor(options: ToolCallAssemblerOptions) {
    this.#options = options
  }

  write(chunk: ToolCallChunk): void {
    const { id, name, args, index } = chunk
    const call = this.#find(chunk) ?? this.#add(index)
    if (id) this.#identify(call, id)
    if (name && call.name === undefined) call.name = name
    const delta = toArgsText(args)
    call.args += delta
    if (call.name === undefined) return
    if (call.toolCallId === undefined) this.#start(call, call.args)
    else if (delta !== '' && !call.isRepeat)
      this.#options.calls.args(call.toolCallId, delta, this.#options.subagentRunId)
  }

  /** Writes the calls of the whole message that did not come in chunks. */
  writeMissing(whole: readonly WholeToolCall[]): void {
    const matched = new Set<AssembledCall>()
    for (const { id, name, args } of whole) {
      const rest = this.#all.filter((call) => !matched.has(call))
      const call =
        rest.find(({ givenId }) => givenId !== undefined && givenId === id) ??
        rest.find((one) => one.givenId === undefined && (one.name ?? name) === name) ??
        this.#add(undefined)
      matched.add(call)
      if (id) this.#identify(call, id)
      call.name ??= name
      if (call.toolCallId === undefined) this.#start(call, call.args === '' ? toArgsText(args) : call.args)
    }
  }

  end(): void {
    const { calls, subagentRunId } = this.#options
    for (const { toolCallId, isRepeat, name = '', args } of this.#all) {
      if (toolCallId === undefined || isRepeat) continue
      // Clients parse the arguments, and an empty text is not JSON.
      if (args === '') calls.args(toolCallId, '{}', subagentRunId)
      calls.end(toolCallId, subagentRunId)
      calls.addWritten(toolCallId, name, args)
    }
    this.#all.length = 0
  }

  /** Ends the calls of a message that broke off, which nobody executes. Returns their ids. */
  abandon(): readonly string[] {
    const { calls, subagentRunId } = this.#options
    const ids = this.#all.flatMap(({ toolCallId, isRepeat }) =>
      toolCallId === undefined || isRepeat ? [] : [toolCallId],
    )
    for (const id of ids) {
      calls.abandon(id)
      calls.end(id, subagentRunId)
    }
    this.#all.length = 0
    return ids
  }

  #find({ id, name, index }: ToolCallChunk): AssembledCall | undefined {
    const found = this.#lookUp(id, index)
    if (!found) return undefined
    if (id && found.givenId !== undefined && found.givenId !== id) return undefined
    if (index !== undefined || id || !name || found.name === undefined) return found
    // Without index and id, a name begins another call, unless it repeats the name of an incomplete one.
    return found.name === name && parseJson(found.args) === undefined ? found : undefined
  }

  #lookUp(id: string | undefined, index: number | string | undefined): AssembledCall | undefined {
    if (index !== undefined) return this.#all.findLast((call) => call.index === index)
    if (id) return this.#all.findLast(({ givenId }) => givenId === id)
    return this.#all.at(-1)
  }

  #add(index: number | string | undefined): AssembledCall {
    const call = {
      index,
      givenId: undefined,
      toolCallId: undefined,
      name: undefined,
      args: '',
      isRepeat: false,
    }
    this.#all.push(call)
    return call
  }

  #identify(call: AssembledCall, id: string): void {
    if (call.givenId !== undefined) return
    call.givenId = id
    if (call.toolCallId !== undefined && call.toolCallId !== id)
      this.#options.calls.addAlias(id, call.toolCallId)
  }

  /** Tells clients once for a message what its calls predict. */
  #predictState(toolName: string): void {
    const { sink, predictState = [], subagentRunId } = this.#options
    if (this.#isPredicted || !predictState.some(({ tool }) => tool === toolName)) return
    this.#isPredicted = true
    sink.add({ ...predictStateEvent(predictState), ...spanTag(subagentRunId) })
  }

  #start(call: AssembledCall, args: string): void {
    const { calls, subagentRunId, messageId, report } = this.#options
    const { givenId, name = '' } = call
    const id =
      givenId === undefined
        ? `${messageId}:tc${this.#all.indexOf(call)}`
        : calls.idFor({ id: givenId, name, messageId }, args)
    call.toolCallId = id
    call.args = args
    this.#predictState(name)
    call.isRepeat = !calls.start({ id, name, parentMessageId: messageId, subagentRunId })
    if (call.isRepeat) report(`tool call '${id}' has the id of an earlier one; it was left out`)
    else if (args !== '') calls.args(id, args, subagentRunId)
  }
}

function toArgsText(args: unknown): string {
  return args === undefined || args === null ? '' : toSafeText(args)
}
