import type { ServerOptions } from '../contract.js'
import type { UserRoute } from '../routes/route.js'
import { callToolRoute } from './call-tool.js'
import { followRunsRoute } from './follow-runs.js'
import { listRunsRoute } from './list-runs.js'
import { consoleSettings } from './page.js'
import { runFileRoute } from './run-file.js'
import { createSessionRoute } from './session.js'

/** What the console's page asks of its server, beside the routes of agents and threads. None without a console. */
export function consoleRoutes({ console: option }: ServerOptions): readonly UserRoute[] {
  const settings = consoleSettings(option)
  if (!settings) return []
  return [
    createSessionRoute(settings),
    listRunsRoute,
    followRunsRoute,
    runFileRoute,
    ...(settings.toolCalls ? [callToolRoute] : []),
  ].map((route) => ({ ...route, path: `${settings.path}/api${route.path}` }))
}
