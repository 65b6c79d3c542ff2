import { isRecord } from '../../core/json.js'
import { recoverThread } from '../recovery/recover-thread.js'
import { invalidField, unknownThread } from '../request/errors.js'
import { readJson } from '../request/read-json.js'
import { adoptThread } from '../run/agent-memory.js'
import { acquireLease } from '../run/lease.js'
import { readThread } from '../state/thread-state.js'
import { jsonResponse, threadInPath, type Route } from './route.js'

const maxTitle = 200

/** `PATCH /thread/{id}`: gives a thread another title. Waits for a live run to end. */
export const renameThreadRoute: Route = {
  method: 'PATCH',
  path: '/thread/:thread',
  optional: 'patch',
  async handle(server, request) {
    const key = threadInPath(server, request)
    const title = readTitle(await readJson(request.request, server))
    // A thread that does not exist is not leased.
    await readThread(server, key)
    const lease = await acquireLease({ ...server, whenBusy: 'wait' }, key, { signal: request.request.signal })
    try {
      const thread = (await recoverThread(server, lease)) ?? (await adoptThread(server, lease))
      if (!thread) throw unknownThread(key)
      const { version, messages, state, shown, interrupts, pendingToolCalls, checkpoint } = thread
      const next = await server.store.threads.commit(lease, {
        ...{ version, keep: messages.length, append: [], state, interrupts, pendingToolCalls, title },
        ...(shown === undefined ? {} : { shown }),
        ...(checkpoint === undefined ? {} : { checkpoint }),
      })
      return jsonResponse({ status: 'updated', version: next })
    } finally {
      await server.store.leases.release(lease)
    }
  },
}

function readTitle(body: unknown): string {
  const title = isRecord(body) && typeof body.title === 'string' ? body.title.trim() : ''
  if (title !== '' && title.length <= maxTitle) return title
  throw invalidField('title', `expected a text of 1 to ${maxTitle} characters`)
}
