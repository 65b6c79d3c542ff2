import { checkAgent } from './check-agent.js'
import type { Agent } from './contract.js'

// Listed one by one, since an agent may be an instance of a class. The compiler checks that none is missing.
const members: Readonly<Record<Exclude<keyof Agent, 'run' | 'outline'>, true>> = {
  ...{ name: true, description: true, shape: true, capabilities: true, examples: true, memory: true },
  ...{ hasNativeEvents: true, resumesAfterFailure: true, limits: true, privateKeys: true },
}

/** The same agent with another `run`. Throws INVALID_AGENT for what is no agent. */
export function wrapAgent(agent: Agent, run: Agent['run']): Agent {
  checkAgent(agent)
  const entries = Object.keys(members).flatMap((key) => {
    const value: unknown = Reflect.get(agent, key)
    return value === undefined ? [] : [[key, value] as const]
  })
  return {
    ...(Object.fromEntries(entries) as unknown as Omit<Agent, 'run'>),
    ...(agent.outline && { outline: agent.outline.bind(agent) }),
    run,
  }
}
