/**
 * The agent of ADK, which is there at once and is loaded when it is needed, or by `load`. Undefined when ADK, which is
 * optional, is not installed.
 */
export function lazyAdkAgent() {
  if (!isInstalled('@google/adk')) return undefined
  let loading
  const load = () => (loading ??= import('./demo-adk.mjs').then(({ createAdkAgent }) => createAdkAgent()))
  const memory = async () => (await load()).memory
  const agent = {
    name: 'adk',
    description:
      'An agent of Google ADK: tools of its own and of the client, and one that asks a person first.',
    examples: ['What is the weather in Oslo?', 'Book a table for 2 at Maaemo.'],
    hasNativeEvents: true,
    resumesAfterFailure: true,
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
