import type { ServerOptions } from '../contract.js'
import type { UserRoute } from '../routes/route.js'
import { debugEventsRoute } from './debug-events.js'
import { infoRoute } from './info.js'
import { connectAgentRoute, runAgentRoute, stopAgentRoute, suggestRoute } from './agent-routes.js'
import { createSingleRoute } from './single-route.js'
import {
  archiveThreadRoute,
  removeThreadRoute,
  threadEventsRoute,
  threadMessagesRoute,
  threadsRoute,
  threadStateRoute,
  updateThreadRoute,
} from './thread-routes.js'

const allRoutes: readonly UserRoute[] = [
  infoRoute,
  runAgentRoute,
  connectAgentRoute,
  suggestRoute,
  stopAgentRoute,
  threadsRoute,
  threadMessagesRoute,
  threadEventsRoute,
  threadStateRoute,
  updateThreadRoute,
  archiveThreadRoute,
  removeThreadRoute,
]

/** The routes that CopilotKit's front end asks of its runtime; none unless they are asked for. */
export function copilotKitRoutes({ copilotKit = false, routes = {} }: ServerOptions): readonly UserRoute[] {
  if (copilotKit === false) return []
  const { basePath = '/copilotkit', debugEvents = false } = copilotKit === true ? {} : copilotKit
  const served = [...allRoutes, ...(debugEvents ? [debugEventsRoute] : [])].filter(
    ({ optional }) => optional === undefined || routes[optional] !== false,
  )
  const single = createSingleRoute(served)
  return [
    { ...single, path: basePath },
    { ...single, path: `${basePath}/` },
    ...served.map((route) => ({ ...route, path: basePath + route.path })),
  ]
}
