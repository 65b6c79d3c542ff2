import { readJson } from '../request/read-json.js'
import { patchState } from '../state/patch-state.js'
import { changeThreadState, readState } from '../state/thread-state.js'
import { jsonResponse, threadInPath, type Route } from './route.js'

/** `GET /state_snapshot/{id}`: the state as a STATE_SNAPSHOT event, without its private keys. */
export const stateRoute: Route = {
  method: 'GET',
  path: '/state_snapshot/:thread',
  optional: 'history',
  async handle(server, request) {
    const key = threadInPath(server, request)
    const state = await readState(server, key)
    return jsonResponse({ type: 'STATE_SNAPSHOT', snapshot: server.stateRulesOf(key).visible(state) })
  },
}

/** `PATCH /state/{id}`: changes the state by an RFC 6902 patch, all of it or nothing. */
export const patchStateRoute: Route = {
  method: 'PATCH',
  path: '/state/:thread',
  optional: 'patch',
  async handle(server, request) {
    const key = threadInPath(server, request)
    const patch = await readJson(request.request, request.owner, server)
    const change = (state: unknown): unknown => patchState(state, patch, server.stateRulesOf(key))
    const { signal } = request.request
    const { version } = await server.audit.during({ action: 'patch', ...key, address: request.address }, () =>
      changeThreadState({ ...server, whenBusy: 'reject' }, key, { change, signal }),
    )
    return jsonResponse({ status: 'updated', version })
  },
}
