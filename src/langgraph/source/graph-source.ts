import { linkAbort } from '../../core/abort.js'
import type { ClosingOptions } from '../../core/closing.js'
import { systemClock } from '../../core/clock.js'
import type { GraphEvent } from '../graph-event.js'
import { createChunkReader } from './chunks.js'
import { outsideOfGraphs } from './current-run.js'
import { GraphHandler } from './handler.js'
import { createLine, type Line, type Step } from './line.js'
import { streamConfig } from './stream-config.js'

/** What is needed of a compiled graph, an entrypoint or an agent of `langchain`. */
export interface StreamableGraph {
  stream(input: never, config?: never): Promise<AsyncIterable<unknown>>
}

export interface GraphSourceOptions extends Pick<ClosingOptions, 'graceMs' | 'clock'> {
  /** What the graph is started with: an input, a Command, or null to go on after a breakpoint. */
  readonly input: unknown
  /** `configurable`, `context`, `recursionLimit`, `callbacks` and what else a graph takes; passed on to it. */
  readonly config: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  /** How many events may wait before the graph does. Default 256. */
  readonly capacity?: number
  /** Gets what went wrong without harm to the run. Must not throw. */
  readonly report: (problem: string) => void
}

/**
 * A graph at work: what happens in it, in the order in which it happens. What the graph computes is what `graph.invoke`
 * computes.
 *
 * - Starts with the first `next()`, and ends when the graph does. Throws what the graph throws; a question is no error.
 * - A reader that is slow makes the graph wait: the models, the tools that emit and await, the steps.
 * - When `signal` aborts, or the reader leaves, the graph is aborted, events not read yet are dropped, and a pending
 *   `next()` rejects with the reason when the graph has stopped, or after the grace time if it does not.
 */
export function graphEvents(
  graph: StreamableGraph,
  options: GraphSourceOptions,
): AsyncGenerator<GraphEvent, void> {
  return new GraphStream(graph, options)
}

/** How a graph has ended. */
interface Ending {
  readonly error?: unknown
}

const done: Step = { done: true, value: undefined }

class GraphStream implements AsyncGenerator<GraphEvent, void> {
  readonly #graph: StreamableGraph
  readonly #options: GraphSourceOptions
  readonly #line: Line
  /** Tells that nobody reads on. */
  readonly #stop = new AbortController()
  /** What stops the graph. */
  readonly #halt = new AbortController()
  #halted: Promise<void> | undefined
  #releases: readonly (() => void)[] | undefined
  #work: Promise<Ending> | undefined
  #over: Promise<Ending | undefined> | undefined
  #isTold = false

  constructor(graph: StreamableGraph, options: GraphSourceOptions) {
    this.#graph = graph
    this.#options = options
    this.#line = createLine({ capacity: options.capacity ?? 256, end: () => this.#end() })
  }

  next(): Promise<Step> {
    if (!this.#releases) this.#start()
    return this.#line.next()
  }

  async return(): Promise<Step> {
    this.#releases ??= []
    this.#stop.abort(new DOMException('The stream was closed.', 'AbortError'))
    this.#line.drop()
    await this.#settle()
    this.#isTold = true
    return done
  }

  async throw(error: unknown): Promise<never> {
    await this.return()
    throw error
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #start(): void {
    const { signal } = this.#stop
    signal.addEventListener('abort', () => this.#abort(), { once: true })
    this.#releases = signalsOf(this.#options).map((parent) => linkAbort(parent, this.#stop))
    if (!signal.aborted) this.#work = outsideOfGraphs(() => this.#run())
  }

  /**
   * Whoever puts an event waits until the graph knows. Not at once: a graph that is aborted just when it hands out a
   * chunk never tells when it has stopped. It does that within a turn of the event loop.
   */
  #abort(): void {
    this.#halted = new Promise((resolve) => {
      setImmediate(() => {
        this.#halt.abort(this.#stop.signal.reason)
        resolve()
      })
    })
    this.#line.drop()
  }

  /** Runs the graph to its end, whatever that is. Never rejects. */
  async #run(): Promise<Ending> {
    const { input, config, report } = this.#options
    const { signal } = this.#halt
    const put = (event: GraphEvent): Promise<void> | undefined => this.#halted ?? this.#line.put(event)
    const handler = new GraphHandler({ put, report })
    try {
      const toEvent = createChunkReader()
      const given = streamConfig({ config, handler, signal })
      for await (const chunk of await this.#graph.stream(input as never, given as never)) {
        const event = toEvent(chunk)
        if (event) await put(event)
      }
      return {}
    } catch (error) {
      // It still writes checkpoints, and who goes on with the thread must find them.
      if (signal.aborted) await handler.over()
      return { error }
    } finally {
      this.#line.close()
    }
  }

  /** What the reader gets after the last event: how it ended, and from then on that it is over. */
  async #end(): Promise<Step> {
    const ending = await this.#settle()
    if (this.#isTold) return done
    this.#isTold = true
    this.#stop.signal.throwIfAborted()
    if (ending && 'error' in ending) throw ending.error
    return done
  }

  #settle(): Promise<Ending | undefined> {
    return (this.#over ??= this.#settleOnce())
  }

  async #settleOnce(): Promise<Ending | undefined> {
    await this.#halted
    const ending = this.#work && (await settled(this.#work, this.#options))
    for (const release of this.#releases ?? []) release()
    return ending
  }
}

/** The abort signals of a run: its own, and one that the user has put into the config. */
function signalsOf({ signal, config }: GraphSourceOptions): AbortSignal[] {
  const own = config.signal
  return own instanceof AbortSignal ? [signal, own] : [signal]
}

/** How the work ends; undefined if it does not within the grace time. */
function settled(
  work: Promise<Ending>,
  { graceMs = 1000, clock = systemClock }: GraphSourceOptions,
): Promise<Ending | undefined> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(graceMs, () => resolve(undefined))
    void work.then((ending) => {
      cancel()
      resolve(ending)
    })
  })
}
