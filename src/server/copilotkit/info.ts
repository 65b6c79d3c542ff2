import type { Agent } from '../../agents/index.js'
import type { ServerContext } from '../context.js'
import { servedCapabilities } from '../routes/agents.js'
import { findAgent, jsonResponse, type UserRoute } from '../routes/route.js'

/** The agent that a page means when it names none. */
const defaultName = 'default'

/** Finds an agent by the name that CopilotKit gives it. The first agent is also `default`. Throws AGENT_NOT_FOUND. */
export function findCopilotKitAgent(server: ServerContext, name: string): Agent {
  const { agents } = server
  const [first = ''] = agents.keys()
  return findAgent(server, name === defaultName && !agents.has(defaultName) ? first : name)
}

/** `GET /info`: the agents, and what the routes can do. */
export const infoRoute: UserRoute = {
  method: 'GET',
  path: '/info',
  handle: (server) => Promise.resolve(jsonResponse(runtimeInfo(server))),
}

function runtimeInfo(server: ServerContext): object {
  const { agents, routes } = server
  const names = new Set([...agents.keys(), defaultName])
  const isListed = routes.history !== false
  const threadEndpoints = {
    list: isListed,
    inspect: isListed,
    mutations: routes.patch !== false && routes.delete !== false,
    realtimeMetadata: false,
  }
  return {
    // Pages show it and decide nothing by it.
    version: 'millrace',
    agents: Object.fromEntries(Array.from(names, (name) => [name, describeAgent(server, name)])),
    mode: 'sse',
    threadEndpoints,
    singleRoute: { resourceOperations: true, threadEndpoints },
    suggestions: true,
    audioFileTranscriptionEnabled: false,
    ...a2uiInfo(server, [...names]),
    openGenerativeUIEnabled: false,
    telemetryDisabled: true,
  }
}

/** Pages draw surfaces for these agents alone, and send them the components that they can draw. */
function a2uiInfo(server: ServerContext, names: readonly string[]): object {
  const drawing = names.filter(
    (name) => findCopilotKitAgent(server, name).capabilities?.custom?.a2ui === true,
  )
  const enabled = drawing.length > 0
  return { a2uiEnabled: enabled, ...(enabled ? { a2ui: { enabled, agents: drawing } } : {}) }
}

function describeAgent(server: ServerContext, name: string): object {
  const agent = findCopilotKitAgent(server, name)
  const { description } = agent
  return {
    name,
    description,
    className: 'MillraceAgent',
    capabilities: servedCapabilities(agent, server.routes),
  }
}
