import { MillraceError } from '../../core/errors.js'
import type { Owner, ThreadSummary } from '../../threads/thread.js'
import type { LiveRun } from '../live/live-run.js'
import { removeThread } from '../remove-thread.js'
import { titleOf } from '../run/message-tail.js'
import { settledThread } from '../run/recover-run.js'
import { memoryOf } from '../run/remembered-thread.js'
import { json, threadInPath, unknownThread, type Route } from './route.js'

const defaultLimit = 50
const maxLimit = 200

/** `GET /thread/list`: the threads of a user, those changed last first. */
export const listRoute: Route = {
  method: 'GET',
  path: '/thread/list',
  async handle({ store, registry }, { owner, query }) {
    const limit = limitIn(query('limit')) ?? defaultLimit
    const cursor = query('cursor')
    const page = await store.threads.list(owner, { limit, ...(cursor === undefined ? {} : { cursor }) })
    const begun = cursor === undefined ? registry.all().filter((run) => isFirstRun(run, owner)) : []
    return json({
      threads: [...begun.map(shownLive), ...page.threads.map(shown)],
      ...(page.cursor === undefined ? {} : { nextCursor: page.cursor }),
    })
  },
}

/** A thread in its first run is not in the store yet, but its user should find it. */
function isFirstRun({ key, isFirst }: LiveRun, { app, user, agent }: Owner): boolean {
  return isFirst && key.app === app && key.user === user && key.agent === agent
}

function shownLive({ key, runId, start, startedAt }: LiveRun) {
  return {
    threadId: key.thread,
    title: titleOf(start.messages),
    status: 'running',
    messageCount: start.messages.length,
    createdAt: startedAt,
    updatedAt: startedAt,
    lastRun: { runId, status: 'running' },
  }
}

function shown(thread: ThreadSummary) {
  const { key, title, createdAt, updatedAt, forkedFrom, messageCount } = thread
  return {
    threadId: key.thread,
    title,
    status: statusOf(thread),
    messageCount,
    createdAt,
    updatedAt,
    ...(forkedFrom === undefined ? {} : { forkedFrom }),
    ...(thread.run === undefined ? {} : { lastRun: { runId: thread.run.runId, status: thread.run.status } }),
  }
}

function statusOf({ run, interruptCount, pendingToolCallCount }: ThreadSummary): string {
  if (run?.status === 'running') return 'running'
  if (interruptCount > 0) return 'interrupted'
  return pendingToolCallCount > 0 ? 'waiting-for-tools' : 'idle'
}

/** Reads `limit` of a query. Throws INVALID_INPUT for anything but a number from 1 to 200. */
export function limitIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= maxLimit) return limit
  throw new MillraceError('INVALID_INPUT', `limit: a number from 1 to ${maxLimit} is expected.`)
}

/** `DELETE /thread/{id}`: forgets a thread. */
export const deleteRoute: Route = {
  method: 'DELETE',
  path: '/thread/:thread',
  async handle(server, request) {
    const { store, owner, limits, threadRules, log } = server
    const key = threadInPath(server, request)
    await settledThread(server, key)
    const outcome = await removeThread({
      ...{ store, key, owner, leaseMs: limits.leaseMs, rules: threadRules, reason: 'request' },
      memory: memoryOf(server, key),
      onProblem: (error) => log.error({ ...key, err: error }, 'a thread could not be removed'),
    })
    switch (outcome) {
      case 'removed':
        return json({ status: 'deleted' })
      case 'missing':
        throw unknownThread(key)
      case 'busy':
        throw new MillraceError(
          'THREAD_IS_LOCKED',
          `A run is at work on thread '${key.thread}'. Cancel it first.`,
        )
      case 'spared':
        throw new MillraceError('HOOK_ERROR', 'The thread was not removed: onThreadRemoved has failed.')
    }
  },
}
