import { unknownThread } from '../request/errors.js'
import { MillraceError } from '../../core/errors.js'
import { loadThread } from '../recovery/recover-thread.js'
import type { ServerContext } from '../context.js'
import type { ThreadKey } from '../../threads/contract.js'
import { jsonResponse, readThreadBody, type Route } from './route.js'

/**
 * `POST /cancel`: stops a run, live or waiting for its thread, and answers when it has stopped. Without a run id it stops
 * the live run of the thread, or those that wait when none is live.
 */
export const cancelRoute: Route = {
  method: 'POST',
  path: '/cancel',
  forOperators: true,
  optional: 'cancel',
  async handle(server, request) {
    const { key, runId } = await readThreadBody(server, request)
    const which = { action: 'cancel' as const, ...key, ...(runId === undefined ? {} : { runId }) }
    return server.audit.during({ ...which, address: request.address }, () => cancelRun(server, key, runId))
  },
}

async function cancelRun(
  server: ServerContext,
  key: ThreadKey,
  runId: string | undefined,
): Promise<Response> {
  const live = server.registry.get(key)
  if (live && (runId === undefined || runId === live.runId)) {
    live.stop()
    await live.done
    return jsonResponse({ status: 'cancelled', runId: live.runId })
  }
  const waiting = await server.registry.starting.cancel(key, runId)
  if (waiting !== undefined) {
    // It may have become a live run meanwhile, which is about to end.
    const started = server.registry.get(key)
    if (started?.runId === waiting) await started.done
    return jsonResponse({ status: 'cancelled', runId: waiting })
  }
  if (live) throw new MillraceError('RUN_NOT_FOUND', `Run '${runId}' is not live; '${live.runId}' is.`)
  const thread = await loadThread(server, key)
  if (!thread) throw unknownThread(key)
  if (thread.run?.status === 'running')
    throw new MillraceError('THREAD_IS_LOCKED', 'The run is live in another process. Cancel it there.')
  return jsonResponse({ status: 'idle' })
}
