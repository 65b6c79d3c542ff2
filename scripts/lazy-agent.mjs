/**
 * An agent whose runtime takes seconds to load. It is available at once; its runtime is loaded when it is first used. Whoever
 * looks at the agents before that sees the outline given here.
 *
 * @param {{ name: string, description: string, examples?: string[] }} about
 * @param {{ outline: import('millrace').AgentOutline, create: () => Promise<import('millrace').Agent> }} runtime
 */
export function lazyAgent(about, { create, outline }) {
  let loading
  let loaded
  const load = () => (loading ??= create().then((agent) => (loaded = agent)))
  const memory = async () => (await load()).memory
  return {
    ...about,
    hasNativeEvents: true,
    resumesAfterFailure: true,
    run: async function* (ctx) {
      return yield* (await load()).run(ctx)
    },
    outline: (options) => loaded?.outline?.(options) ?? outline,
    memory: {
      read: async (thread) => (await memory()).read(thread),
      writeState: async (thread, state) => (await memory()).writeState(thread, state),
      forget: async (thread) => (await memory()).forget(thread),
    },
  }
}

/** Whether a package, which is optional, is there. */
export function isInstalled(name) {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}
