import type { RunnableConfig } from '@langchain/core/runnables'
import type { NativeEvents, RunContext } from '../agents/index.js'
import type { AgentEvent } from '../protocol/index.js'
import type { GraphEvent } from './graph-event.js'
import type { ServableGraph } from './setup.js'
import { graphEvents } from './source/graph-source.js'
import type { Translator } from './translate/translator.js'

/** What a graph is given. */
export interface Running {
  readonly input: unknown
  readonly config: RunnableConfig
}

export interface Streaming extends Running {
  readonly translator: Translator
  /** Whether the graph has taken the input. */
  readonly attempt: { hasBegun: boolean }
}

/** What a graph does with one input. Gives whether it has stopped to ask. */
export async function* streamGraph(
  graph: ServableGraph,
  ctx: RunContext,
  { input, config, translator, attempt }: Streaming,
): AsyncGenerator<AgentEvent, boolean> {
  let hasStopped = false
  const { signal, graceMs, clock, report, native } = ctx
  const source = graphEvents(graph, { input, config: { ...config }, signal, graceMs, clock, report })
  for await (const event of source) {
    if (event.type === 'node-start') attempt.hasBegun = true
    if (event.type === 'interrupts') hasStopped = true
    for (const shown of native ? await seen(native, event, translator) : translator.translate(event))
      yield shown
  }
  return hasStopped
}

async function seen(native: NativeEvents, event: GraphEvent, translator: Translator): Promise<AgentEvent[]> {
  const events: AgentEvent[] = []
  for (const changed of (await native.change?.(event)) ?? [event]) {
    const own = await native.translate?.(changed)
    // Whoever changes events of a graph gives events of a graph.
    events.push(...(own ?? translator.translate(changed as GraphEvent)))
  }
  return events
}
