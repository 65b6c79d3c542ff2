import { isInstalled, lazyAgent } from './lazy-agent.mjs'

/** The agent of both: a node that thinks, and one that calls tools until there is nothing to call. */
const outline = {
  ...{ kind: 'graph', runtime: 'langgraph' },
  agents: ['agent', 'tools'].map((name) => ({
    ...{ name, description: '' },
    outline: () => ({ kind: 'node', runtime: 'langgraph' }),
  })),
  edges: [
    { from: '__start__', to: 'agent' },
    { from: 'tools', to: 'agent' },
    { from: 'agent', to: 'tools' },
    { from: 'agent', to: '__end__' },
  ],
}

/**
 * The agents of LangGraph: one for itself, and one for the tree of all runtimes. Undefined if LangGraph is not installed.
 *
 * @param {import('millrace/models').Model} model
 * @param {string} file for checkpoints
 */
export function lazyGraphAgents(model, file) {
  if (!['@langchain/langgraph', '@langchain/core/messages'].every(isInstalled)) return undefined
  const load = () => import('./demo-graph.mjs')
  const agent = lazyAgent(
    {
      name: 'graph',
      description:
        'A graph of LangGraph: nodes are steps, one tool sends an event of its own, one asks a person first.',
      examples: ['What is the weather in Oslo?', 'Book a table for 2 at Maaemo.'],
    },
    { outline, create: async () => (await load()).createGraphAgent(model, file) },
  )
  const dinner = lazyAgent(
    { name: 'dinner', description: 'Of LangGraph: finds restaurants in a city, and books tables.' },
    { outline, create: async () => (await load()).createDinnerAgent(model, file) },
  )
  return { agent, dinner }
}
