import { MillraceError } from '../../core/errors.js'
import type { Owner, ThreadKey, ThreadStore, ThreadSummary } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import type { LiveRun } from '../live/registry.js'
import { titleMatches } from '../../threads/thread-list.js'
import { checkId } from '../request/check-input.js'
import { listRemembered, readRememberedThread } from '../run/agent-memory.js'
import { titleFor } from '../run/thread-change.js'
import { jsonResponse, pageLimit, type Route } from './route.js'

const defaultPageSize = 50

/**
 * `GET /thread/list`: the threads of a user, the last changed first. Threads in their first run are not in the store yet;
 * they stand before all others, so that their user finds them. Threads that only the agent's runtime knows stand last.
 * Archived threads are in it with `archived=true` only; `search` leaves those whose title has the text in it.
 */
export const listThreadsRoute: Route = {
  method: 'GET',
  path: '/thread/list',
  optional: 'history',
  async handle(server, request) {
    const { owner, query } = request
    const page = await listThreads(server, owner, {
      limit: pageLimit(request) ?? defaultPageSize,
      cursor: query('cursor'),
      search: query('search'),
      withoutArchived: !isArchivedWanted(query('archived')),
    })
    return jsonResponse(page)
  },
}

export interface ListOptions {
  readonly limit: number
  readonly cursor: string | undefined
  readonly withoutArchived: boolean
  /** Leaves only threads whose title has this text in it. */
  readonly search?: string | undefined
}

/** A thread as clients get it in a list. */
export type ListedThread = ReturnType<typeof describeThread>

interface ListPage {
  readonly threads: readonly ListedThread[]
  readonly nextCursor?: string
}

/** A page of the threads of an owner. Throws INVALID_INPUT for a cursor that no list has given. */
export async function listThreads(
  server: ServerContext,
  owner: Owner,
  { limit, cursor, withoutArchived, search }: ListOptions,
): Promise<ListPage> {
  const { store, registry, limits } = server
  if (search !== undefined) checkId(search, 'search', limits)
  const remembered = positionIn(cursor, 'known')
  if (remembered) return pageOfRemembered(server, owner, { limit, after: remembered })
  const after = positionIn(cursor, 'begun')
  const listsFirstRuns = cursor === undefined || after !== undefined
  const firstRuns = listsFirstRuns ? listFirstRuns(registry.all(), owner, after).slice(0, limit) : []
  const last = firstRuns[limit - 1]
  if (last) {
    const threads = await describeFirstRuns(server, firstRuns, { withoutArchived, search })
    return { threads, nextCursor: cursorAfter('begun', positionOf(last)) }
  }
  const page = await store.threads.list(owner, {
    limit: limit - firstRuns.length,
    withoutArchived,
    ...(listsFirstRuns ? {} : { cursor }),
    ...(search === undefined ? {} : { search }),
  })
  // A first run may have been committed meanwhile.
  const stored = new Set(page.threads.map(({ key }) => key.thread))
  const running = firstRuns.filter(({ key }) => !stored.has(key.thread))
  const begun = await describeFirstRuns(server, running, { withoutArchived, search })
  const threads = [...begun, ...page.threads.map(describeThread)]
  if (page.cursor !== undefined) return { threads, nextCursor: page.cursor }
  // To know the title of a thread that only the runtime has, all of it would have to be read.
  if (search !== undefined) return { threads }
  const rest = await pageOfRemembered(server, owner, { limit: limit - threads.length, after: beforeAll })
  return { ...rest, threads: [...threads, ...rest.threads] }
}

/** The position of a thread among those in their first run, or among those that only the runtime knows. */
interface ListPosition {
  readonly at: number
  readonly thread: string
}

const beforeAll: ListPosition = { at: Number.MAX_SAFE_INTEGER, thread: '' }

function positionOf({ startedAt, key }: LiveRun): ListPosition {
  return { at: startedAt, thread: key.thread }
}

/** Orders positions, the latest first. */
function comparePositions(a: ListPosition, b: ListPosition): number {
  return b.at - a.at || (a.thread < b.thread ? -1 : Number(a.thread > b.thread))
}

type ListPart = 'begun' | 'known'

function cursorAfter(part: ListPart, { at, thread }: ListPosition): string {
  return `${part}.${at}.${thread}`
}

/** Returns undefined for cursors of other parts, and for the store's. */
function positionIn(cursor: string | undefined, part: ListPart): ListPosition | undefined {
  const [, found, at, thread] = /^(begun|known)\.(\d+)\.(.*)$/su.exec(cursor ?? '') ?? []
  return found === part && thread !== undefined ? { at: Number(at), thread } : undefined
}

/** Returns an owner's threads in their first run, the last started first, after a position if there is one. */
function listFirstRuns(
  runs: readonly LiveRun[],
  { app, user, agent }: Owner,
  after = beforeAll,
): readonly LiveRun[] {
  return runs
    .filter(({ isFirst, key }) => isFirst && key.app === app && key.user === user && key.agent === agent)
    .filter((run) => comparePositions(after, positionOf(run)) < 0)
    .sort((a, b) => comparePositions(positionOf(a), positionOf(b)))
}

interface RememberedPage {
  readonly limit: number
  readonly after: ListPosition
}

/** A page of the threads that the agent's runtime knows and the store does not. */
async function pageOfRemembered(server: ServerContext, owner: Owner, { limit, after }: RememberedPage) {
  const listed = await listRemembered(server, owner)
  const known = listed.length > 0 ? await storedThreads(server.store.threads, owner) : new Set<string>()
  const unknown = listed
    .map(({ threadId, updatedAt }) => ({ at: Math.floor(updatedAt), thread: threadId }))
    .filter(({ thread }) => !known.has(thread) && !server.registry.get({ ...owner, thread }))
    .filter((position) => comparePositions(after, position) < 0)
    .sort(comparePositions)
  const shown = unknown.slice(0, limit)
  const threads = await Promise.all(
    shown.map(({ thread, at }) => summarizeRemembered(server, { ...owner, thread }, at)),
  )
  return {
    threads: threads.flatMap((thread) => (thread ? [describeThread(thread)] : [])),
    ...(unknown.length > limit ? { nextCursor: cursorAfter('known', shown.at(-1) ?? after) } : {}),
  }
}

async function storedThreads(threads: ThreadStore, owner: Owner): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  let cursor: string | undefined
  do {
    const page = await threads.list(owner, { limit: 200, ...(cursor === undefined ? {} : { cursor }) })
    for (const { key } of page.threads) ids.add(key.thread)
    cursor = page.cursor
  } while (cursor !== undefined)
  return ids
}

/** Undefined when it is gone meanwhile. */
async function summarizeRemembered(
  server: ServerContext,
  key: ThreadKey,
  updatedAt: number,
): Promise<ThreadSummary | undefined> {
  const thread = await readRememberedThread(server, key)
  if (!thread) return undefined
  const { messages, interrupts, pendingToolCalls } = thread
  return {
    ...{ key, version: 0, createdAt: updatedAt, updatedAt, title: titleFor(messages) },
    ...{ messageCount: messages.length, interruptCount: interrupts.length },
    pendingToolCallCount: pendingToolCalls.length,
  }
}

function isArchivedWanted(query: string | undefined): boolean {
  if (query === undefined || query === 'true' || query === 'false') return query === 'true'
  throw new MillraceError('INVALID_INPUT', 'archived: true or false is expected.')
}

/** Describes threads in their first run. Their user may have named them, or put them away, since it began. */
async function describeFirstRuns(
  { store }: ServerContext,
  runs: readonly LiveRun[],
  { withoutArchived, search }: Pick<ListOptions, 'withoutArchived' | 'search'>,
): Promise<ListedThread[]> {
  const heads = await Promise.all(runs.map(({ key }) => store.threads.loadHead(key)))
  return runs.flatMap((run, index) => {
    const { title = '', archived } = heads[index] ?? {}
    const listed = describeFirstRun(run, { title, archived })
    return (archived && withoutArchived) || !titleMatches(listed.title, search) ? [] : [listed]
  })
}

function describeFirstRun(
  { key, runId, start, startedAt }: LiveRun,
  { title, archived }: { readonly title: string; readonly archived: true | undefined },
): ListedThread {
  return {
    threadId: key.thread,
    title: title || titleFor(start.messages),
    ...(archived ? { archived } : {}),
    status: 'running',
    messageCount: start.messages.length,
    createdAt: startedAt,
    updatedAt: startedAt,
    lastRun: { runId, status: 'running' },
  }
}

/** A thread as lists have it. */
function describeThread(thread: ThreadSummary) {
  const { key, title, archived, createdAt, updatedAt, forkedFrom, messageCount, run } = thread
  return {
    threadId: key.thread,
    title,
    ...(archived ? { archived } : {}),
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
