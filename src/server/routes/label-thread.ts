import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import type { ThreadKey, ThreadLabels } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import { unknownThread } from '../request/errors.js'
import { checkReadable } from '../request/check-input.js'
import { readJson } from '../request/read-json.js'
import { adoptThread, readRememberedThread } from '../run/agent-memory.js'
import { acquireLease } from '../run/lease.js'
import { jsonResponse, threadInPath, type Route, type UserRequest } from './route.js'

/** `PATCH /thread/{id}`: gives a thread a title, puts it away, or takes it back; also while it runs. */
export const labelThreadRoute: Route = {
  method: 'PATCH',
  path: '/thread/:thread',
  optional: 'patch',
  async handle(server, request) {
    const key = threadInPath(server, request)
    const labels = checkLabels(await readJson(request.request, request.owner, server))
    await labelThread(server, key, { labels, request })
    return jsonResponse({ status: 'updated' })
  },
}

const maxTitle = 256

/** Checks what a client gives a thread, with its own name for the title. Throws INVALID_INPUT. */
export function checkLabels(body: unknown, field: 'title' | 'name' = 'title'): ThreadLabels {
  if (!isRecord(body) || (body.title === undefined && body.archived === undefined))
    throw new MillraceError(
      'INVALID_INPUT',
      `The body must be an object with a ${field}, or archived, or both.`,
    )
  const { title, archived } = body
  if (archived !== undefined && typeof archived !== 'boolean')
    throw new MillraceError('INVALID_INPUT', 'archived: true or false is expected.')
  const isTitle = typeof title === 'string' && title.trim() !== '' && title.length <= maxTitle
  if (title !== undefined && !isTitle)
    throw new MillraceError('INVALID_INPUT', `${field}: a text of 1 to ${maxTitle} characters is expected.`)
  if (isTitle) checkReadable(title, () => field)
  return {
    ...(isTitle ? { title: title.trim() } : {}),
    ...(archived === undefined ? {} : { archived }),
  }
}

interface LabelOptions {
  readonly labels: ThreadLabels
  readonly request: Pick<UserRequest, 'request' | 'address'>
}

/** Labels a thread. One that only the agent's runtime knows is stored for it. Throws THREAD_NOT_FOUND. */
export function labelThread(
  server: ServerContext,
  key: ThreadKey,
  { labels, request: { request, address } }: LabelOptions,
): Promise<void> {
  const { signal } = request
  return server.audit.during({ action: 'label', ...key, address }, () =>
    storeLabels(server, key, { labels, signal }),
  )
}

async function storeLabels(
  server: ServerContext,
  key: ThreadKey,
  { labels, signal }: { readonly labels: ThreadLabels; readonly signal: AbortSignal },
): Promise<void> {
  const { threads, leases } = server.store
  if (await threads.label(key, labels)) return
  // A thread that does not exist is not leased.
  if (!(await readRememberedThread(server, key))) throw unknownThread(key)
  const lease = await acquireLease({ ...server, whenBusy: 'wait' }, key, { signal })
  try {
    // A run may have stored it meanwhile.
    if (await threads.label(key, labels)) return
    await adoptThread(server, lease)
    if (!(await threads.label(key, labels))) throw unknownThread(key)
  } finally {
    await leases.release(lease)
  }
}
