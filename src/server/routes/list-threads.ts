import type { Owner, ThreadSummary } from '../../threads/contract.js'
import type { LiveRun } from '../live/registry.js'
import { titleFor } from '../run/thread-change.js'
import { jsonResponse, pageLimit, type Route } from './route.js'

const defaultPageSize = 50

/**
 * `GET /thread/list`: the threads of a user, the last changed first. Threads in their first run are not in the store yet;
 * they stand before all others, so that their user finds them.
 */
export const listThreadsRoute: Route = {
  method: 'GET',
  path: '/thread/list',
  optional: 'history',
  async handle({ store, registry }, request) {
    const { owner, query } = request
    const limit = pageLimit(request) ?? defaultPageSize
    const cursor = query('cursor')
    const after = firstRunPosition(cursor)
    const listsFirstRuns = cursor === undefined || after !== undefined
    const firstRuns = listsFirstRuns ? listFirstRuns(registry.all(), owner, after).slice(0, limit) : []
    const last = firstRuns[limit - 1]
    if (last) return jsonResponse({ threads: firstRuns.map(describeFirstRun), nextCursor: cursorAfter(last) })
    const page = await store.threads.list(owner, {
      limit: limit - firstRuns.length,
      ...(listsFirstRuns ? {} : { cursor }),
    })
    // A first run may have been committed meanwhile.
    const stored = new Set(page.threads.map(({ key }) => key.thread))
    const running = firstRuns.filter(({ key }) => !stored.has(key.thread))
    return jsonResponse({
      threads: [...running.map(describeFirstRun), ...page.threads.map(describeThread)],
      ...(page.cursor === undefined ? {} : { nextCursor: page.cursor }),
    })
  },
}

/** The position of a thread among those in their first run. */
interface FirstRunPosition {
  readonly startedAt: number
  readonly thread: string
}

/** Returns an owner's threads in their first run, the last started first, after a position if there is one. */
function listFirstRuns(
  runs: readonly LiveRun[],
  owner: Owner,
  after: FirstRunPosition | undefined,
): LiveRun[] {
  const { app, user, agent } = owner
  return runs
    .filter(({ isFirst, key }) => isFirst && key.app === app && key.user === user && key.agent === agent)
    .map((run) => ({ run, startedAt: run.startedAt, thread: run.key.thread }))
    .filter((position) => after === undefined || comparePositions(after, position) < 0)
    .sort(comparePositions)
    .map(({ run }) => run)
}

function comparePositions(a: FirstRunPosition, b: FirstRunPosition): number {
  return b.startedAt - a.startedAt || (a.thread < b.thread ? -1 : Number(a.thread > b.thread))
}

function cursorAfter({ startedAt, key }: LiveRun): string {
  return `begun.${startedAt}.${key.thread}`
}

/** Returns undefined for the store's cursors, which continue after all first runs. */
function firstRunPosition(cursor = ''): FirstRunPosition | undefined {
  const [, startedAt, thread] = /^begun\.(\d+)\.(.+)$/su.exec(cursor) ?? []
  return startedAt === undefined || thread === undefined
    ? undefined
    : { startedAt: Number(startedAt), thread }
}

function describeFirstRun({ key, runId, start, startedAt }: LiveRun) {
  return {
    threadId: key.thread,
    title: titleFor(start.messages),
    status: 'running',
    messageCount: start.messages.length,
    createdAt: startedAt,
    updatedAt: startedAt,
    lastRun: { runId, status: 'running' },
  }
}

function describeThread(thread: ThreadSummary) {
  const { key, title, createdAt, updatedAt, forkedFrom, messageCount, run } = thread
  return {
    threadId: key.thread,
    title,
    status: threadStatus(thread),
    messageCount,
    createdAt,
    updatedAt,
    ...(forkedFrom === undefined ? {} : { forkedFrom }),
    ...(run === undefined ? {} : { lastRun: { runId: run.runId, status: run.status } }),
  }
}

function threadStatus({ run, interruptCount, pendingToolCallCount }: ThreadSummary): string {
  if (run?.status === 'running') return 'running'
  if (interruptCount > 0) return 'interrupted'
  return pendingToolCallCount > 0 ? 'waiting-for-tools' : 'idle'
}
