/**
 * The agent of LangGraph, which is there at once and is loaded when it is needed, or by `load`. Undefined when LangGraph,
 * which is optional, is not installed.
 *
 * @param {import('millrace/models').Model} model
 * @param {string} file for checkpoints
 */
export function lazyGraphAgent(model, file) {
  if (!['@langchain/langgraph', '@langchain/core/messages'].every(isInstalled)) return undefined
  let loading
  const load = () =>
    (loading ??= import('./demo-graph.mjs').then(({ createGraphAgent }) => createGraphAgent(model, file)))
  const memory = async () => (await load()).memory
  const agent = {
    name: 'graph',
    description:
      'A graph of LangGraph: nodes are steps, one tool sends an event of its own, one asks a person first.',
    examples: ['What is the weather in Oslo?', 'Book a table for 2 at Maaemo.'],
    hasNativeEvents: true,
    run: async function* (ctx) {
      return yield* (await load()).run(ctx)
    },
    memory: {
      read: async (thread) => (await memory()).read(thread),
      writeState: async (thread, state) => (await memory()).writeState(thread, state),
      forget: async (thread) => (await memory()).forget(thread),
    },
  }
  return { agent, load }
}

function isInstalled(name) {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}
