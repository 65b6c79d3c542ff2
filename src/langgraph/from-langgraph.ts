import type { Agent } from '../agents/index.js'
import { MillraceError } from '../core/errors.js'
import { createMemory } from './memory.js'
import type { LangGraphOptions } from './options.js'
import { runGraph } from './run-graph.js'
import type { ServableGraph } from './setup.js'

/**
 * Makes an Agent of a compiled graph, or of what `createAgent` gives, run in this process. Throws INVALID_AGENT when it has no name.
 *
 * @example
 * createServer({ agents: [fromLangGraph(graph, { name: 'researcher' })] })
 */
export function fromLangGraph(
  given: ServableGraph | { readonly graph: ServableGraph },
  options: LangGraphOptions = {},
): Agent {
  // What `createAgent` gives has its graph inside.
  const graph = 'graph' in given ? given.graph : given
  const name = options.name ?? graph.name
  if (name === undefined || name === '')
    throw new MillraceError('INVALID_AGENT', 'Give the graph a name: `fromLangGraph(graph, { name })`.')
  const { description = '', examples, capabilities } = options
  const setup = { name, graph, options }
  const memory = createMemory(setup)
  return {
    name,
    description,
    hasNativeEvents: true,
    run: (ctx) => runGraph(setup, ctx),
    ...(memory && { memory, resumesAfterFailure: true }),
    ...(examples && { examples }),
    ...(capabilities && { capabilities }),
  }
}
