import type { AgentCapabilities } from '@ag-ui/core'
import type { Agent } from '../../agents/index.js'
import type { ServerContext } from '../context.js'
import { jsonResponse, type Route } from './route.js'

/** `GET /agents`: all agents, with their capabilities and example prompts. */
export function listAgents({ agents, routes }: ServerContext): Response {
  return jsonResponse({
    agents: Array.from(agents.values(), (agent) => ({
      name: agent.name,
      description: agent.description,
      capabilities: servedCapabilities(agent, routes),
      examples: agent.examples ?? [],
    })),
  })
}

/** `GET /capabilities`: the capabilities of one agent, as this server serves it. */
export const capabilitiesRoute: Route = {
  method: 'GET',
  path: '/capabilities',
  handle: ({ routes }, { agent }) => Promise.resolve(jsonResponse(servedCapabilities(agent, routes))),
}

/** The agent's own capabilities, and those that the server adds to every agent. */
export function servedCapabilities(
  { name, description, capabilities = {} }: Agent,
  routes: ServerContext['routes'],
): AgentCapabilities {
  const resumable = routes.connect !== false
  return {
    ...capabilities,
    identity: { name, ...(description === '' ? {} : { description }), ...capabilities.identity },
    transport: { streaming: true, httpBinary: true, resumable, ...capabilities.transport },
    tools: { supported: true, clientProvided: true, ...capabilities.tools },
    state: { snapshots: true, deltas: true, persistentState: true, ...capabilities.state },
    humanInTheLoop: { supported: true, interrupts: true, ...capabilities.humanInTheLoop },
  }
}
