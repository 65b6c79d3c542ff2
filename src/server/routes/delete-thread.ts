import { unknownThread } from '../request/errors.js'
import { MillraceError } from '../../core/errors.js'
import { loadThread } from '../recovery/recover-thread.js'
import { removeThread } from '../retention/remove-thread.js'
import { memoryOf } from '../run/agent-memory.js'
import type { ServerContext } from '../context.js'
import type { ThreadKey } from '../../threads/contract.js'
import { jsonResponse, threadInPath, type Route } from './route.js'

/** `DELETE /thread/{id}`: removes a thread, also from the memory of its agent's runtime. */
export const deleteThreadRoute: Route = {
  method: 'DELETE',
  path: '/thread/:thread',
  optional: 'delete',
  async handle(server, request) {
    const key = threadInPath(server, request)
    return server.audit.during({ action: 'delete', ...key, address: request.address }, () =>
      deleteThread(server, key),
    )
  },
}

async function deleteThread(server: ServerContext, key: ThreadKey): Promise<Response> {
  const { store, owner, limits, threadRules, log } = server
  await loadThread(server, key)
  const outcome = await removeThread({
    ...{ store, key, owner, leaseMs: limits.leaseMs, rules: threadRules, reason: 'request' },
    memory: memoryOf(server, key),
    onProblem: (error) => log.error({ ...key, err: error }, 'a thread could not be removed'),
  })
  switch (outcome) {
    case 'removed':
      return jsonResponse({ status: 'deleted' })
    case 'missing':
      throw unknownThread(key)
    case 'busy': {
      const message = `Thread '${key.thread}' has a live run. Cancel it first.`
      throw new MillraceError('THREAD_IS_LOCKED', message)
    }
    case 'spared':
      throw new MillraceError('HOOK_ERROR', 'The thread was not removed: onThreadRemoved has failed.')
  }
}
