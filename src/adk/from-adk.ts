import type { Agent } from '../agents/index.js'
import { createMemory } from './memory.js'
import type { AdkOptions, AdkRoot } from './options.js'
import { runAdk } from './run-adk.js'
import { setUp } from './setup.js'
import { withSnapshot } from './with-snapshot.js'

/**
 * Makes an Agent of what ADK can run. Throws INVALID_AGENT, saying what is missing, for what cannot be served.
 *
 * @example
 * createServer({ agents: [fromAdk(new LlmAgent({ name: 'helper', model: 'gemini-2.5-flash' }))] })
 */
export function fromAdk(root: AdkRoot, options: AdkOptions = {}): Agent {
  const setup = setUp(root, options)
  const { name, description } = setup
  const { examples, capabilities, messagesSnapshot = false } = options
  const memory = createMemory(setup)
  return {
    name,
    description,
    hasNativeEvents: true,
    resumesAfterFailure: true,
    run: (ctx) => (messagesSnapshot ? withSnapshot(runAdk(setup, ctx), ctx) : runAdk(setup, ctx)),
    ...(memory && { memory }),
    ...(examples && { examples }),
    ...(capabilities && { capabilities }),
  }
}
