import type { RunnableConfig } from '@langchain/core/runnables'
import type { NativeHooks, RunContext } from '../agents/index.js'
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

/** What happens in a graph that is given something. */
export function streamGraph(
  graph: ServableGraph,
  ctx: RunContext,
  { input, config }: Running,
): AsyncGenerator<GraphEvent, void> {
  const { graceMs, clock, report } = ctx.services
  const { signal } = ctx
  return graphEvents(graph, { input, config: { ...config }, signal, graceMs, clock, report })
}

/** What clients see of an event when hooks have a hand in it. */
export async function seen(
  native: NativeHooks,
  event: GraphEvent,
  translator: Translator,
): Promise<AgentEvent[]> {
  const events: AgentEvent[] = []
  for (const changed of (await native.change?.(event)) ?? [event]) {
    const own = await native.translate?.(changed)
    // Whoever changes events of a graph gives events of a graph.
    events.push(...(own ?? translator.translate(changed as GraphEvent)))
  }
  return events
}
