/**
 * An agent whose runtime is optional and takes seconds to load. It is available at once; its runtime is loaded at the first
 * run, or by `load`. Undefined if one of its packages is not installed.
 *
 * @param {{ name: string, description: string, examples: string[] }} about
 * @param {{ packages: string[], kind: 'adk' | 'graph', create: () => Promise<import('millrace').Agent> }} runtime
 */
export function lazyAgent(about, { packages, create, kind }) {
  if (!packages.every(isInstalled)) return undefined
  let loading
  let loaded
  const load = () => (loading ??= create().then((agent) => (loaded = agent)))
  const memory = async () => (await load()).memory
  const agent = {
    ...about,
    hasNativeEvents: true,
    resumesAfterFailure: true,
    run: async function* (ctx) {
      return yield* (await load()).run(ctx)
    },
    // Whoever looks at the agents does not wait until a runtime is loaded.
    outline: (options) => loaded?.outline?.(options) ?? { kind },
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
