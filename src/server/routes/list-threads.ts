import { MillraceError } from '../../core/errors.js'
import type { Owner, ThreadSummary } from '../../threads/thread.js'
import type { LiveRun } from '../live/live-run.js'
import { settledThread } from '../recovery/recover-thread.js'
import { removeThread } from '../retention/remove-thread.js'
import { memoryOf } from '../run/agent-memory.js'
import { titleOf } from '../run/message-tail.js'
import { json, type Route, threadInPath, unknownThread } from './route.js'

const defaultLimit = 50
const maxLimit = 200

/** `GET /thread/list`: the threads of a user, those changed last first. */
export const listRoute: Route = {
  method: 'GET',
  path: '/thread/list',
  async handle({ store, registry }, { owner, query }) {
    const limit = limitIn(query('limit')) ?? defaultLimit
    const cursor = query('cursor')
    const end = begunEnd(cursor)
    const begun = (cursor === undefined || end ? firstRuns(registry.all(), owner, end) : []).slice(0, limit)
    const last = begun[limit - 1]
    if (last) return json({ threads: begun.map(shownLive), nextCursor: begunCursor(last) })
    const page = await store.threads.list(owner, {
      limit: limit - begun.length,
      ...(cursor === undefined || end ? {} : { cursor }),
    })
    // Stored by now.
    const ended = new Set(page.threads.map(({ key }) => key.thread))
    const running = begun.filter(({ key }) => !ended.has(key.thread))
    return json({
      threads: [...running.map(shownLive), ...page.threads.map(shown)],
      ...(page.cursor === undefined ? {} : { nextCursor: page.cursor }),
    })
  },
}

/** Where a page of threads in their first run has ended. */
interface BegunEnd {
  readonly startedAt: number
  readonly thread: string
}

/**
 * The threads of an owner in their first run, those begun last first. They are not in the store yet, but their user should
 * find them: before all others.
 */
function firstRuns(runs: readonly LiveRun[], owner: Owner, end: BegunEnd | undefined): LiveRun[] {
  const { app, user, agent } = owner
  return runs
    .filter(({ isFirst, key }) => isFirst && key.app === app && key.user === user && key.agent === agent)
    .map((run) => ({ run, startedAt: run.startedAt, thread: run.key.thread }))
    .filter((place) => end === undefined || inOrder(end, place) < 0)
    .sort(inOrder)
    .map(({ run }) => run)
}

function inOrder(a: BegunEnd, b: BegunEnd): number {
  return b.startedAt - a.startedAt || (a.thread < b.thread ? -1 : Number(a.thread > b.thread))
}

function begunCursor({ startedAt, key }: LiveRun): string {
  return `begun.${startedAt}.${key.thread}`
}

/** Undefined for the cursors of the store, which go on after all of these. */
function begunEnd(cursor = ''): BegunEnd | undefined {
  const [, startedAt, thread] = /^begun\.(\d+)\.(.+)$/su.exec(cursor) ?? []
  return startedAt === undefined || thread === undefined
    ? undefined
    : { startedAt: Number(startedAt), thread }
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
