import { linkAbort } from '../../core/abort.js'
import { withStop, type ClosingOptions } from '../../core/closing.js'
import { systemClock } from '../../core/clock.js'
import type { GraphEvent } from '../graph-event.js'
import { createChunkReader } from './chunks.js'
import { outsideOfGraphs } from './current-run.js'
import { GraphHandler } from './handler.js'
import { createLine, type Line } from './line.js'
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
  const stop = new AbortController()
  return withStop(read(graph, options, stop), () => {
    stop.abort(new DOMException('The stream was closed.', 'AbortError'))
  })
}

async function* read(
  graph: StreamableGraph,
  options: GraphSourceOptions,
  stop: AbortController,
): AsyncGenerator<GraphEvent, void> {
  const releases = signalsOf(options).map((parent) => linkAbort(parent, stop))
  const line = createLine(options.capacity ?? 256, stop.signal)
  let work: Promise<Ending> | undefined
  let ending: Ending | undefined
  try {
    stop.signal.throwIfAborted()
    work = outsideOfGraphs(() => run(graph, line, options))
    for await (const event of line.events) yield event
  } finally {
    ending = work && (await settled(work, options))
    for (const release of releases) release()
  }
  stop.signal.throwIfAborted()
  if (ending && 'error' in ending) throw ending.error
}

/** How a graph has ended. */
interface Ending {
  readonly error?: unknown
}

/** Runs the graph to its end, whatever that is. Never rejects. */
async function run(
  graph: StreamableGraph,
  { put, close, signal }: Line,
  { input, config, report }: GraphSourceOptions,
): Promise<Ending> {
  const handler = new GraphHandler({ put, report })
  try {
    const toEvent = createChunkReader()
    const chunks = await graph.stream(input as never, streamConfig({ config, handler, signal }) as never)
    for await (const chunk of chunks) {
      const event = toEvent(chunk)
      if (event) await put(event)
    }
    return {}
  } catch (error) {
    // It still writes checkpoints, and who goes on with the thread must find them.
    if (signal.aborted) await handler.over()
    return { error }
  } finally {
    close()
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
