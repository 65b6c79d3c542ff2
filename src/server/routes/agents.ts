import type { AgentCapabilities } from '@ag-ui/core'
import type { Agent } from '../../agents/index.js'
import { json, type Route } from './route.js'

/** `GET /agents`: who can be talked to, and what to ask them. */
export function describeAgents(agents: Iterable<Agent>) {
  return {
    agents: Array.from(agents, (agent) => ({
      name: agent.name,
      description: agent.description,
      capabilities: capabilitiesOf(agent),
      examples: agent.examples ?? [],
    })),
  }
}

/** `GET /capabilities`: what an agent, served by this server, can do. */
export const capabilitiesRoute: Route = {
  method: 'GET',
  path: '/capabilities',
  handle: (_, { agent }) => Promise.resolve(json(capabilitiesOf(agent))),
}

/** What every agent gets from the server, and what it says of itself. */
function capabilitiesOf({ name, description, capabilities = {} }: Agent): AgentCapabilities {
  return {
    ...capabilities,
    identity: { name, ...(description === '' ? {} : { description }), ...capabilities.identity },
    transport: { streaming: true, httpBinary: true, resumable: true, ...capabilities.transport },
    tools: { supported: true, clientProvided: true, ...capabilities.tools },
    state: { snapshots: true, deltas: true, persistentState: true, ...capabilities.state },
    humanInTheLoop: { supported: true, interrupts: true, ...capabilities.humanInTheLoop },
  }
}
