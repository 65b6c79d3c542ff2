import type { AgentCapabilities } from '@ag-ui/core'
import type { Agent } from '../../agents/index.js'
import type { ServerContext } from '../context.js'
import { jsonResponse, type Route } from './route.js'

/** `GET /agents`: all agents, with their capabilities and example prompts. */
export function listAgents({ agents }: ServerContext): Response {
  return jsonResponse({
    agents: Array.from(agents.values(), (agent) => ({
      name: agent.name,
      description: agent.description,
      capabilities: servedCapabilities(agent),
      examples: agent.examples ?? [],
    })),
  })
}

/** `GET /capabilities`: the capabilities of one agent, as this server serves it. */
export const capabilitiesRoute: Route = {
  method: 'GET',
  path: '/capabilities',
  handle: (_, { agent }) => Promise.resolve(jsonResponse(servedCapabilities(agent))),
}

/** The agent's own capabilities, and those that the server adds to every agent. */
function servedCapabilities({ name, description, capabilities = {} }: Agent): AgentCapabilities {
  return {
    ...capabilities,
    identity: { name, ...(description === '' ? {} : { description }), ...capabilities.identity },
    transport: { streaming: true, httpBinary: true, resumable: true, ...capabilities.transport },
    tools: { supported: true, clientProvided: true, ...capabilities.tools },
    state: { snapshots: true, deltas: true, persistentState: true, ...capabilities.state },
    humanInTheLoop: { supported: true, interrupts: true, ...capabilities.humanInTheLoop },
  }
}
