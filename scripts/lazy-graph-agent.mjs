import { lazyAgent } from './lazy-agent.mjs'

/**
 * The LangGraph agent; undefined if LangGraph, which is optional, is not installed.
 *
 * @param {import('millrace/models').Model} model
 * @param {string} file for checkpoints
 */
export function lazyGraphAgent(model, file) {
  const about = {
    name: 'graph',
    description:
      'A graph of LangGraph: nodes are steps, one tool sends an event of its own, one asks a person first.',
    examples: ['What is the weather in Oslo?', 'Book a table for 2 at Maaemo.'],
  }
  return lazyAgent(about, {
    packages: ['@langchain/langgraph', '@langchain/core/messages'],
    kind: 'graph',
    create: async () => (await import('./demo-graph.mjs')).createGraphAgent(model, file),
  })
}
