import { MillraceError } from '../../core/errors.js'
import { checkId } from '../request/check-input.js'
import { settledThread } from '../recovery/recover-thread.js'
import { fieldsOf, json, readBody, unknownThread, type Route } from './route.js'

/**
 * `POST /cancel`: stops the run of a thread, or one that waits for it. Answers when it has stopped. Without a run id, the
 * one at work is stopped; those that wait for it are only when none is.
 */
export const cancelRoute: Route = {
  method: 'POST',
  path: '/cancel',
  async handle(server, request) {
    const body = fieldsOf(await readBody(server, request))
    const thread = checkId(body.threadId, 'threadId', server.limits)
    const runId = body.runId === undefined ? undefined : checkId(body.runId, 'runId', server.limits)
    const key = { ...request.owner, thread }
    const live = server.registry.get(key)
    if (live && (runId === undefined || runId === live.runId)) {
      live.stop()
      await live.done
      return json({ status: 'cancelled', runId: live.runId })
    }
    const opening = await server.openings.cancel(key, runId)
    if (opening !== undefined) {
      // It may have become a run all the same, which is about to end.
      const begun = server.registry.get(key)
      if (begun?.runId === opening) await begun.done
      return json({ status: 'cancelled', runId: opening })
    }
    if (live) throw new MillraceError('RUN_NOT_FOUND', `Run '${runId}' is not at work; '${live.runId}' is.`)
    const known = await settledThread(server, key)
    if (!known) throw unknownThread(key)
    if (known.run?.status === 'running')
      throw new MillraceError('THREAD_IS_LOCKED', 'The run is at work in another process. Cancel it there.')
    return json({ status: 'idle' })
  },
}
