import { jsonResponse, pageLimit, type UserRequest, type UserRoute } from '../routes/route.js'
import type { RunSummary, RunViewer } from './run-board.js'

/** `GET /runs`: the runs that this process executes or remembers, the newest first. */
export const listRunsRoute: UserRoute = {
  method: 'GET',
  path: '/runs',
  handle({ board }, request) {
    const filters = ['status', 'agent', 'user'] as const
    const wanted = filters.flatMap((name) => {
      const value = request.query(name)
      return value === undefined || value === '' ? [] : [[name, value] as const]
    })
    const fits = (run: RunSummary): boolean => wanted.every(([name, value]) => run[name] === value)
    const visible = (board?.list(viewerOf(request)) ?? []).filter(fits)
    return Promise.resolve(jsonResponse({ runs: visible.slice(0, pageLimit(request) ?? 100) }))
  },
}

/** Operators see the runs of all users of the app, unless they act as one of them. */
export function viewerOf({ user, isOperator, request }: UserRequest): RunViewer {
  return isOperator && !request.headers.has('millrace-as-user') ? { app: user.app } : user
}
