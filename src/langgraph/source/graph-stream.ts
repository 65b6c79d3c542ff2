import type { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import type { CallbackManager } from '@langchain/core/callbacks/manager'
import { EventQueue } from '../../bridge/event-queue.js'
import { linkAbort } from '../../core/abort.js'
import { systemClock } from '../../core/clock.js'
import type { ClosingOptions } from '../../core/abortable.js'
import { isRecord } from '../../core/json.js'
import type { ModelObserver } from '../../agents/index.js'
import type { GraphEvent, GraphInterruption, StreamableGraph } from '../contract.js'
import { CallTimers } from './call-timers.js'
import { GraphCallbackHandler } from './callback-handler.js'
import { currentConfig, currentRunId, outsideOfGraphs, type EmitTarget } from './current-run.js'

export interface GraphStreamOptions extends Pick<ClosingOptions, 'graceMs' | 'clock'> {
  /** The input of the graph: a state, a Command, or null to resume after a breakpoint. */
  readonly input: unknown
  /** The config of the graph: `configurable`, `context`, `recursionLimit`, `callbacks` and so on. */
  readonly config: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  /** The number of unread events above which the graph waits. Default 256. */
  readonly capacity?: number
  /** Called with problems that do not harm the run. Must not throw. */
  readonly report: (problem: string, error?: unknown) => void
  /** Called before each node, model call and tool call. Throws to stop the graph there. */
  readonly assertActive?: () => void
  /** Is told of each request to a model. */
  readonly onModelRequest?: ModelObserver | undefined
  /** Returns a tool call id that no other call of the thread has. Default: the wanted one. */
  readonly callId?: (wanted: string) => string
  /** Returns the result that the thread has for a call already. Default: none has one. */
  readonly keptResult?: EmitTarget['keptResult']
  /** How long a call of a tool may take, in milliseconds. Default: no limit. */
  readonly toolTimeoutMs?: number | undefined
  /** How large the result of a tool may be, in bytes of its JSON. Default: no limit. */
  readonly toolResultBytes?: number | undefined
}

type StreamResult = IteratorResult<GraphEvent, void>

/** The end of a graph, with its error if it failed. */
interface GraphEnd {
  readonly error?: unknown
}

const finished: StreamResult = { done: true, value: undefined }

/**
 * Runs a graph and yields its native events in order. The graph computes the same as with `graph.invoke`.
 *
 * - The graph starts with the first `next()`. The stream ends with the graph and throws what the graph throws; an
 *   interrupt is not an error.
 * - Back-pressure: while the reader is behind, models, tools that await `emit`, and steps wait.
 * - When `signal` aborts, or the reader returns, the graph is aborted and unread events are dropped. A pending `next()`
 *   rejects with the abort reason once the graph has stopped, or after the grace time.
 */
export class GraphStream implements AsyncGenerator<GraphEvent, void> {
  readonly #graph: StreamableGraph
  readonly #options: GraphStreamOptions
  readonly #queue: EventQueue<GraphEvent>
  /** Aborts when the run is cancelled or the reader returns. */
  readonly #stop = new AbortController()
  /** Aborts the graph, shortly after `#stop`. */
  readonly #graphAbort = new AbortController()
  #graphAborted: Promise<void> | undefined
  #unlinkSignals: readonly (() => void)[] | undefined
  #running: Promise<GraphEnd> | undefined
  #settled: Promise<GraphEnd | undefined> | undefined
  #hasEnded = false

  constructor(graph: StreamableGraph, options: GraphStreamOptions) {
    this.#graph = graph
    this.#options = options
    this.#queue = new EventQueue({ capacity: options.capacity ?? 256, onEnd: () => this.#end() })
  }

  next(): Promise<StreamResult> {
    if (!this.#unlinkSignals) this.#start()
    return this.#queue.next()
  }

  async return(): Promise<StreamResult> {
    this.#unlinkSignals ??= []
    this.#stop.abort(new DOMException('The stream was closed.', 'AbortError'))
    this.#queue.drop()
    await this.#settle()
    this.#hasEnded = true
    return finished
  }

  async throw(error: unknown): Promise<StreamResult> {
    await this.return()
    throw error
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #start(): void {
    const { signal, config } = this.#options
    const signals = config.signal instanceof AbortSignal ? [signal, config.signal] : [signal]
    this.#stop.signal.addEventListener('abort', () => this.#abortGraph(), { once: true })
    this.#unlinkSignals = signals.map((parent) => linkAbort(parent, this.#stop))
    if (!this.#stop.signal.aborted) this.#running = outsideOfGraphs(() => this.#run())
  }

  /**
   * Aborts the graph on the next turn of the event loop. If it were aborted just while it hands out a chunk, it would
   * never report that it has stopped. Producers wait until then.
   */
  #abortGraph(): void {
    this.#graphAborted = new Promise((resolve) => {
      setImmediate(() => {
        this.#graphAbort.abort(this.#stop.signal.reason)
        resolve()
      })
    })
    this.#queue.drop()
  }

  /** Runs the graph to its end. Never rejects. */
  async #run(): Promise<GraphEnd> {
    const { input, config, report, assertActive, keptResult, callId = (wanted) => wanted } = this.#options
    const { onModelRequest } = this.#options
    const { signal } = this.#graphAbort
    const put = (event: GraphEvent): Promise<void> | undefined => this.#graphAborted ?? this.#queue.put(event)
    const callLimit = this.#callLimit()
    const whenRead = (): Promise<void> => this.#graphAborted ?? this.#queue.whenRead()
    const handler = new GraphCallbackHandler({
      ...{ put, whenRead, report, callId, callLimit, keptResult, assertActive, onModelRequest },
    })
    const readChunk = createChunkReader()
    try {
      const chunks = await this.#graph.stream(
        input as never,
        streamConfig({ config, handler, signal }) as never,
      )
      for await (const chunk of chunks) {
        const event = readChunk(chunk)
        if (event) await put(event)
      }
      return {}
    } catch (error) {
      // The graph still writes checkpoints, and the next run of the thread must find them.
      if (signal.aborted) await handler.waitForRoot()
      return { error }
    } finally {
      callLimit?.close()
      this.#queue.close()
    }
  }

  #callLimit(): CallTimers | undefined {
    const {
      toolTimeoutMs: timeoutMs = Infinity,
      toolResultBytes: maxBytes,
      clock = systemClock,
    } = this.#options
    if (timeoutMs === Infinity && maxBytes === undefined) return undefined
    return new CallTimers({ timeoutMs, clock, maxBytes, onTimeout: (error) => this.#stop.abort(error) })
  }

  /** Called at each `next()` after the last event. Only the first one gets the error. */
  async #end(): Promise<void> {
    const end = await this.#settle()
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#stop.signal.throwIfAborted()
    if (end && 'error' in end) throw end.error
  }

  #settle(): Promise<GraphEnd | undefined> {
    return (this.#settled ??= this.#settleOnce())
  }

  async #settleOnce(): Promise<GraphEnd | undefined> {
    await this.#graphAborted
    const end = this.#running && (await withinGrace(this.#running, this.#options))
    for (const unlink of this.#unlinkSignals ?? []) unlink()
    return end
  }
}

/** The end of the graph; undefined if it does not end within the grace time. */
function withinGrace(
  running: Promise<GraphEnd>,
  { graceMs = 1000, clock = systemClock }: GraphStreamOptions,
): Promise<GraphEnd | undefined> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(graceMs, () => resolve(undefined))
    void running.then((end) => {
      cancel()
      resolve(end)
    })
  })
}

interface StreamConfigOptions {
  readonly config: Readonly<Record<string, unknown>>
  readonly handler: GraphCallbackHandler
  readonly signal: AbortSignal
}

/** The config for `graph.stream`: the user's, with our callbacks and writer beside theirs. */
function streamConfig({ config, handler, signal }: StreamConfigOptions): Record<string, unknown> {
  return {
    ...config,
    callbacks: withHandler(config.callbacks, handler),
    writer: createWriter(handler, config.writer),
    streamMode: ['values'],
    subgraphs: true,
    // Either would change the shape of the chunks.
    encoding: undefined,
    version: undefined,
    signal,
  }
}

function withHandler(callbacks: unknown, handler: BaseCallbackHandler): unknown {
  if (callbacks === undefined || callbacks === null) return [handler]
  if (Array.isArray(callbacks)) return [...(callbacks as unknown[]), handler]
  const manager = (callbacks as CallbackManager).copy()
  manager.addHandler(handler, true)
  return manager
}

/** The writer for nodes and tools. It returns a promise while the reader is behind; awaiting it is optional. */
function createWriter(
  handler: GraphCallbackHandler,
  userWriter: unknown,
): (value: unknown) => Promise<unknown> | undefined {
  return (value) => {
    if (typeof userWriter === 'function') (userWriter as (value: unknown) => void)(value)
    const config = currentConfig()
    const runId = config && currentRunId(config)
    if (isRecord(value) && typeof value.name === 'string' && 'payload' in value)
      return handler.handleCustomEvent(value.name, value.payload, runId)
    return handler.handleCustomEvent('langgraph.custom', value, runId)
  }
}

/**
 * Reads the chunks of `graph.stream` with `streamMode: ['values']` and `subgraphs: true`: the states of the root graph,
 * and the interrupts. An interrupt of a nested graph comes once from every graph around it, the innermost first. Only
 * the one of the root counts, because a node may catch it; the first one has the namespace that raised it.
 */
export function createChunkReader(): (chunk: unknown) => GraphEvent | undefined {
  const namespaces = new Map<unknown, readonly string[]>()

  function readInterrupts(ns: readonly string[], entries: readonly unknown[]): GraphEvent | undefined {
    const interrupts = entries.map((entry) => toInterruption(entry, ns))
    if (ns.length === 0)
      return {
        type: 'interrupts',
        interrupts: interrupts.map((one) => ({ ...one, ns: namespaces.get(one.id) ?? ns })),
      }
    for (const { id } of interrupts) if (id !== undefined && !namespaces.has(id)) namespaces.set(id, ns)
    return undefined
  }

  return (chunk) => {
    if (!Array.isArray(chunk) || !Array.isArray(chunk[0])) return { type: 'unknown', name: 'stream' }
    const [ns, mode, payload] = chunk as [string[], unknown, unknown]
    if (mode !== 'values') return { type: 'unknown', name: `stream:${String(mode)}` }
    if (isRecord(payload) && Array.isArray(payload.__interrupt__))
      return readInterrupts(ns, payload.__interrupt__)
    if (ns.length > 0) return undefined
    // A graph of the functional API may have a value of any type.
    return isRecord(payload)
      ? { type: 'values', values: payload }
      : { type: 'unknown', name: 'stream:values' }
  }
}

function toInterruption(entry: unknown, ns: readonly string[]): GraphInterruption {
  const { id, value, response_schema: responseSchema } = isRecord(entry) ? entry : { value: entry }
  return {
    id: typeof id === 'string' ? id : undefined,
    value,
    ns,
    ...(responseSchema === undefined ? {} : { responseSchema }),
  }
}
