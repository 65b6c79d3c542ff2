import type { TokenUsage } from '@ag-ui/core'
import { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import type { ChatGenerationChunk, Generation, GenerationChunk, LLMResult } from '@langchain/core/outputs'
import { isGraphInterrupt, isParentCommand } from '@langchain/langgraph'
import type { ModelObserver } from '../../agents/index.js'
import { ifString, isRecord, parseJson } from '../../core/json.js'
import { readPredictState } from '../../bridge/predict-state.js'
import type { GraphEvent } from '../contract.js'
import type { CallTimers } from './call-timers.js'
import { emitTarget, type EmitTarget } from './current-run.js'
import { ModelCallIds } from './model-call-ids.js'
import { ObservedRequests } from './observed-requests.js'

export interface CallbackHandlerOptions {
  /** Takes an event. Returns a promise if the producer of the event should wait. Must not throw. */
  readonly put: (event: GraphEvent) => Promise<unknown> | undefined
  /** Resolves when all events so far are read, and safe where they have to be. Must not reject. */
  readonly whenRead?: () => Promise<void>
  readonly report: (problem: string, error?: unknown) => void
  /** Returns a tool call id that no other call of the thread has: the wanted one if it is free. */
  readonly callId: (wanted: string) => string
  /** Undefined: calls of tools may take any time. */
  readonly callLimit?: CallTimers | undefined
  readonly keptResult?: EmitTarget['keptResult']
  /** Throws when the run may begin nothing more. */
  readonly assertActive?: (() => void) | undefined
  /** Is told of each request to a model. */
  readonly onModelRequest?: ModelObserver | undefined
}

/** A promise if LangChain should wait before it continues. */
type Wait = Promise<unknown> | undefined
type ArgsOf<Name extends keyof BaseCallbackHandler> = Parameters<
  Extract<BaseCallbackHandler[Name], (...args: never[]) => unknown>
>

/**
 * Turns the callbacks of LangChain into native events. Its only effects are that models stream, and that their tool calls
 * have ids of their own. LangChain awaits it: a provider reads on when the queue has space again. Throws only to stop a
 * node, model or tool before it begins.
 */
export class GraphCallbackHandler extends BaseCallbackHandler implements EmitTarget {
  readonly name = 'millrace'
  readonly [emitTarget] = true
  readonly lc_prefer_streaming = true
  override awaitHandlers = true
  override raiseError = true
  readonly callLimit: CallTimers | undefined
  readonly keptResult: EmitTarget['keptResult']
  readonly #put: CallbackHandlerOptions['put']
  readonly #whenRead: CallbackHandlerOptions['whenRead']
  readonly #report: CallbackHandlerOptions['report']
  readonly #assertActive: CallbackHandlerOptions['assertActive']
  readonly #observed: ObservedRequests
  readonly #runs = new OpenRuns()
  readonly #callIds: ModelCallIds
  #rootId: string | undefined
  #hasRootEnded = false
  #onRootEnd: (() => void) | undefined

  constructor(options: CallbackHandlerOptions) {
    super()
    const { put, whenRead, report, callId, callLimit, keptResult, assertActive } = options
    this.#callIds = new ModelCallIds(callId)
    this.callLimit = callLimit
    this.keptResult = keptResult
    this.#put = put
    this.#whenRead = whenRead
    this.#report = report
    this.#assertActive = assertActive
    this.#observed = new ObservedRequests(options.onModelRequest)
  }

  override copy(): this {
    return this
  }

  /** Resolves when the root graph has stopped. The stream of an aborted graph ends earlier. */
  waitForRoot(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#rootId === undefined || this.#hasRootEnded) resolve()
      else this.#onRootEnd = resolve
    })
  }

  override handleChainStart(...args: ArgsOf<'handleChainStart'>): Wait {
    const [serialized, input, runId, parentRunId, tags = [], metadata = {}, , name] = args
    this.#assertActive?.()
    return this.#emit(() => this.#chainStart({ serialized, input, runId, parentRunId, tags, metadata, name }))
  }

  override handleChainEnd(output: unknown, runId: string): Wait {
    return this.#emit(() => this.#chainEnd(runId, output))
  }

  override handleChainError(error: unknown, runId: string): Wait {
    // A Command for the parent graph is thrown too.
    if (isParentCommand(error)) return this.#emit(() => this.#chainEnd(runId, error.command))
    return this.#runError(runId, error)
  }

  override handleChatModelStart(...args: ArgsOf<'handleChatModelStart'>): Wait {
    const [, messages, runId, parentRunId, extraParams, tags = [], metadata = {}] = args
    this.#assertActive?.()
    this.#observed.begin({ runId, messages: messages[0] ?? [], extraParams, metadata })
    return this.#emit(() => ({
      type: 'model-start',
      runId,
      parentRunId: this.#runs.add(runId, parentRunId, { kind: 'model' }),
      provider: ifString(metadata.ls_provider),
      model: ifString(metadata.ls_model_name),
      isHidden: tags.includes('nostream') || tags.includes('langsmith:nostream'),
      ...(metadata.predict_state === undefined
        ? {}
        : { predictState: readPredictState(metadata.predict_state) }),
    }))
  }

  override handleLLMStart(...[llm, , ...rest]: ArgsOf<'handleLLMStart'>): Wait {
    return this.handleChatModelStart(llm, [], ...rest)
  }

  // Called for every chunk: nothing here can fail, and it costs next to nothing.
  override handleLLMNewToken(...[token, , runId, , , fields]: ArgsOf<'handleLLMNewToken'>): Wait {
    const chunk = messageChunk(token, fields?.chunk)
    const message = chunk.tool_call_chunks?.length ? this.#callIds.inChunk(runId, chunk) : chunk
    return this.#put({ type: 'model-chunk', runId, message })
  }

  override handleLLMEnd(output: LLMResult, runId: string): Wait {
    return this.#emit(() => {
      this.#runs.remove(runId)
      const message = this.#finalMessage(output, runId)
      this.#observed.end(runId, usageIn(message))
      return { type: 'model-end', runId, message }
    })
  }

  override handleLLMError(error: unknown, runId: string): Wait {
    this.#callIds.end(runId)
    this.#observed.end(runId, { error })
    return this.#runError(runId, error)
  }

  override handleToolStart(...args: ArgsOf<'handleToolStart'>): Wait {
    const [serialized, input, runId, parentRunId, , metadata, name, toolCallId] = args
    const toolName = name ?? toolClassName(serialized)
    this.#assertActive?.()
    this.callLimit?.start(runId, toolName, toolCallId)
    const wait = this.#emit(() => ({
      type: 'tool-start',
      runId,
      parentRunId: this.#runs.add(runId, parentRunId, { kind: 'tool' }),
      name: toolName,
      // LangChain passes objects as JSON, but strings as they are.
      input: parseJson(input) === undefined ? JSON.stringify(input) : input,
      toolCallId,
      ns: ifString(metadata?.langgraph_checkpoint_ns) ?? '',
    }))
    // A tool begins when its call is in the log: without it, a process that dies now would leave no trace of the call.
    return this.#whenRead ? this.#whenRead().then(() => this.#assertActive?.()) : wait
  }

  override handleToolEvent(chunk: unknown, runId: string): Wait {
    return this.#put({ type: 'tool-output', runId, chunk })
  }

  override handleToolEnd(output: unknown, runId: string): Wait {
    this.callLimit?.end(runId)
    return this.#emit(() => {
      this.#runs.remove(runId)
      return { type: 'tool-end', runId, output }
    })
  }

  override handleToolError(error: unknown, runId: string): Wait {
    this.callLimit?.end(runId)
    return isParentCommand(error) ? this.handleToolEnd(error.command, runId) : this.#runError(runId, error)
  }

  override handleCustomEvent(name: string, value: unknown, runId: string | undefined): Wait {
    return this.#put({ type: 'custom', name, value, runId: this.#runs.visible(runId) })
  }

  /** The message of a model. The graph gets it too, in place of the one that LangChain has made. */
  #finalMessage({ generations }: LLMResult, runId: string): BaseMessage | undefined {
    const generation: (Generation & { message?: BaseMessage }) | undefined = generations[0]?.[0]
    if (generation?.message) generation.message = this.#callIds.inWhole(runId, generation.message)
    this.#callIds.end(runId)
    return generation && (generation.message ?? new AIMessage(generation.text))
  }

  #chainStart(start: ChainStart): GraphEvent | undefined {
    const { runId, parentRunId, input, name = defaultGraphName } = start
    if (isGraphChain(start)) return this.#graphStart(start)
    if (isHiddenChain(start) || !isNodeChain(start)) {
      this.#runs.skip(runId, parentRunId)
      return undefined
    }
    const around = this.#runs.add(runId, parentRunId, { kind: 'node', input, name })
    return { type: 'node-start', runId, parentRunId: around, node: name, ns: graphNamespace(start) }
  }

  #graphStart(start: ChainStart): GraphEvent | undefined {
    const { runId, parentRunId, input, name = defaultGraphName } = start
    if (this.#rootId === undefined) {
      this.#rootId = runId
      return undefined
    }
    const node = this.#runs.get(parentRunId)
    // A graph that is the node itself has the node's own input; one that the node's code calls has another.
    const isNode = isNodeChain(start) || (node?.kind === 'node' && node.input === input)
    const around = this.#runs.add(runId, parentRunId, { kind: 'graph' })
    const shownName = isNode && name === defaultGraphName ? (node?.name ?? name) : name
    return { type: 'graph-start', runId, parentRunId: around, name: shownName, isNode }
  }

  #chainEnd(runId: string, output: unknown): GraphEvent | undefined {
    const kind = this.#endRun(runId)
    if (kind === 'graph') return { type: 'graph-end', runId }
    return kind === undefined ? undefined : { type: 'node-end', runId, output }
  }

  #runError(runId: string, error: unknown): Wait {
    return this.#emit(() => {
      const kind = this.#endRun(runId)
      return kind && { type: errorTypes[kind], runId, error, isInterrupt: isGraphInterrupt(error) }
    })
  }

  #endRun(runId: string): NativeRunKind | undefined {
    if (runId === this.#rootId) {
      this.#hasRootEnded = true
      this.#onRootEnd?.()
    }
    return this.#runs.remove(runId)
  }

  /** Reports errors, because LangChain would only write them to the console. */
  #emit(read: () => GraphEvent | undefined): Wait {
    try {
      const event = read()
      return event && this.#put(event)
    } catch (error) {
      this.#report('An event of LangGraph could not be read.', error)
      return undefined
    }
  }
}

const errorTypes = {
  node: 'node-error',
  graph: 'graph-error',
  model: 'model-error',
  tool: 'tool-error',
} as const satisfies Record<NativeRunKind, GraphEvent['type']>

/** Text-only models, and some that are not LangChain's own, send no message with a token. */
function messageChunk(
  token: string,
  chunk: GenerationChunk | ChatGenerationChunk | undefined,
): AIMessageChunk {
  if (chunk && 'message' in chunk) return chunk.message as AIMessageChunk
  return new AIMessageChunk(token)
}

function usageIn(message: BaseMessage | undefined): { readonly usage?: TokenUsage } {
  const usage: unknown = message && Reflect.get(message, 'usage_metadata')
  if (!isRecord(usage)) return {}
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage
  return typeof inputTokens === 'number' && typeof outputTokens === 'number'
    ? { usage: { inputTokens, outputTokens } }
    : {}
}

/** The name of a tool that is a class of its own. */
function toolClassName(serialized: unknown): string {
  const { name, id } = isRecord(serialized) ? serialized : {}
  return ifString(name) ?? ifString(Array.isArray(id) ? id.at(-1) : undefined) ?? 'tool'
}

/** The arguments of `handleChainStart`. LangChain's types name the last four in another order than it sends them. */
interface ChainStart {
  readonly serialized: unknown
  readonly input: unknown
  readonly runId: string
  readonly parentRunId: string | undefined
  readonly tags: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>>
  readonly name: string | undefined
}

/** LangGraph's default name of a graph. */
const defaultGraphName = 'LangGraph'

/** Whether a chain is a graph. Some functions of LangGraph have an id that begins with `langgraph` too. */
function isGraphChain({ serialized }: ChainStart): boolean {
  const id = isRecord(serialized) ? serialized.id : undefined
  return Array.isArray(id) && id[0] === 'langgraph' && id[1] === 'pregel'
}

/** Whether a chain is a node of a graph. */
function isNodeChain({ tags, metadata, name }: ChainStart): boolean {
  return (
    name !== undefined &&
    name === metadata.langgraph_node &&
    tags.some((tag) => tag.startsWith('graph:step:'))
  )
}

/** The checkpoint namespace of the graph around a node: that of the node without its last segment. */
function graphNamespace({ metadata }: ChainStart): string {
  const own = ifString(metadata.langgraph_checkpoint_ns) ?? ''
  return own.slice(0, Math.max(0, own.lastIndexOf('|')))
}

/** Whether a chain is machinery of LangGraph. */
function isHiddenChain({ tags }: ChainStart): boolean {
  return tags.includes('langsmith:hidden')
}

/** The kinds of LangChain runs with native events. */
type NativeRunKind = 'node' | 'graph' | 'model' | 'tool'

interface OpenNativeRun {
  readonly kind: NativeRunKind
  readonly input?: unknown
  readonly name?: string
}

/**
 * The open LangChain runs. LangChain has many more runs than those with native events: functions, sequences,
 * routers. This skips them: what runs inside them belongs to the nearest run around with events.
 */
class OpenRuns {
  readonly #open = new Map<string, OpenNativeRun>()
  /** The nearest run around that has events, by skipped run. */
  readonly #skipped = new Map<string, string | undefined>()

  get(runId: string | undefined): OpenNativeRun | undefined {
    return runId === undefined ? undefined : this.#open.get(runId)
  }

  /** Adds a run that has events. Returns the run around it; undefined for the root graph. */
  add(runId: string, parentRunId: string | undefined, run: OpenNativeRun): string | undefined {
    this.#open.set(runId, run)
    return this.visible(parentRunId)
  }

  /** Adds a run without events. */
  skip(runId: string, parentRunId: string | undefined): void {
    this.#skipped.set(runId, this.visible(parentRunId))
  }

  /** The run itself if it has events, else the nearest one around it that has. */
  visible(runId: string | undefined): string | undefined {
    return runId === undefined || this.#open.has(runId) ? runId : this.#skipped.get(runId)
  }

  /** Removes a run. Returns its kind; undefined for one without events. */
  remove(runId: string): NativeRunKind | undefined {
    this.#skipped.delete(runId)
    const run = this.#open.get(runId)
    this.#open.delete(runId)
    return run?.kind
  }
}
