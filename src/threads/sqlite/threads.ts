import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { Lease, Owner, Page, ThreadChange, ThreadKey, ThreadPage, ThreadStore } from '../contract.js'
import { forkSource } from '../thread-key.js'
import { foldCase, fromCursor, toCursor } from '../thread-list.js'
import {
  type SqliteConnection,
  keyMatches,
  keyParams,
  ownerParams,
  toSqlText,
  toThreadKey,
} from './connection.js'
import type { SqliteLeases } from './leases.js'
import type { SqliteLog } from './log.js'
import { createThreadWatch } from './thread-watch.js'
import {
  selectHeads,
  selectSummaries,
  selectThreads,
  toSummary,
  toThread,
  toThreadHead,
  type HeadOfThreadRow,
  type SummaryRow,
  type ThreadRow,
  type ThreadRows,
} from './thread-rows.js'

export interface SqliteThreadsOptions {
  readonly connection: SqliteConnection
  readonly clock: Clock
  readonly leases: SqliteLeases
  readonly log: SqliteLog
  readonly rows: ThreadRows
}

export interface SqliteThreads extends ThreadStore {
  /** Wakes all waiters. */
  readonly close: () => void
}

export function createSqliteThreads(options: SqliteThreadsOptions): SqliteThreads {
  const { connection, clock, leases, log, rows } = options
  // A row with events alone is no thread yet.
  const isThread = `${keyMatches} AND (version > 0 OR t.run_id IS NOT NULL)`
  const load = connection.prepare<ThreadRow>(`${selectThreads} WHERE ${isThread}`)
  const loadHead = connection.prepare<HeadOfThreadRow>(`${selectHeads} WHERE ${isThread}`)
  const idle = connection.prepare<SummaryRow>(
    `${selectSummaries} WHERE version > 0 AND updated_at < ? ORDER BY updated_at LIMIT ?`,
  )
  const watch = createThreadWatch(connection, clock)
  const unfinished = connection.prepare<ThreadKey>(
    `SELECT t.app, t.user, t.agent, t.thread FROM runs r JOIN threads t ON t.id = r.thread_id AND t.run_id = r.run_id
     WHERE r.status = 'running'`,
  )

  function commit({ key }: Lease, change: ThreadChange): number {
    const now = clock.now()
    // A refused change rolls back the transaction, and the new row with it.
    const head = rows.find(key) ?? rows.create(key, now)
    const { id, version } = head
    const sourceKey = forkSource(key, change)
    const source = sourceKey && rows.find(sourceKey)
    const { messageCount } = source ?? head
    if (version !== change.version || messageCount < change.keep) throw versionConflict(key, version, change)
    const next = rows.nextVersion(head)
    rows.update({ ...head, source }, change, { version: next, now })
    if (change.run !== undefined) log.remove(id, change.run.runId)
    if (change.log !== undefined) log.add(id, change.log)
    return next
  }

  return {
    load: (key) =>
      connection.read(() => {
        const row = load.get(...keyParams(key))
        return row === undefined ? undefined : toThread(row)
      }),
    loadHead: (key) =>
      connection.read(() => {
        const row = loadHead.get(...keyParams(key))
        return row === undefined ? undefined : toThreadHead(row)
      }),
    async begin(lease, run) {
      await connection.write(() => {
        leases.assertCurrent(lease)
        rows.startRun(lease.key, run, clock.now())
      })
      watch.wake(lease.key)
    },
    async commit(lease, change, { release = false } = {}) {
      const version = await connection.write(() => {
        leases.assertCurrent(lease)
        const next = commit(lease, change)
        if (release) leases.drop(lease)
        return next
      })
      if (change.run !== undefined || change.log !== undefined) log.wake(lease.key)
      watch.wake(lease.key)
      return version
    },
    async remove(lease) {
      await connection.write(() => {
        leases.assertCurrent(lease)
        const head = rows.find(lease.key)
        if (head === undefined) return
        log.remove(head.id)
        rows.remove(head)
      })
      log.wake(lease.key)
      watch.wake(lease.key)
    },
    label: (key, labels) => connection.write(() => rows.label(key, labels)),
    changed: watch.wait,
    close: watch.close,
    list: createList(connection),
    idle: (before, limit) => connection.read(() => idle.all(before, limit).map(toSummary)),
    unfinished: () => connection.read(() => unfinished.all().map(toThreadKey)),
  }
}

/** Later than the change of any thread. */
const beforeFirstPage = { updatedAt: Number.MAX_SAFE_INTEGER, thread: '' }

function createList(connection: SqliteConnection): (owner: Owner, page: Page) => Promise<ThreadPage> {
  const list = connection.prepare<SummaryRow>(
    `${selectSummaries} WHERE version > 0 AND app = ? AND user = ? AND agent = ?
       AND updated_at <= ? AND (updated_at < ? OR thread > ?) AND archived <= ?
       AND (instr(folded_title, ?) OR instr(folded_title, ?))
     ORDER BY updated_at DESC, thread LIMIT ?`,
  )
  return (owner, { limit, cursor, search = '', withoutArchived = false }) =>
    connection.read(() => {
      const { updatedAt, thread } = cursor === undefined ? beforeFirstPage : fromCursor(cursor)
      const from = [updatedAt, updatedAt, toSqlText(thread)]
      // Every text has the empty one in it. Some titles are stored as JSON, see `toSqlText`.
      const text = foldCase(search)
      const escaped = JSON.stringify(text).slice(1, -1)
      const plain = text.includes('\0') || /\p{Surrogate}/u.test(text) ? escaped : text
      const found = list.all(
        ...ownerParams(owner),
        ...from,
        withoutArchived ? 0 : 1,
        plain,
        escaped,
        limit + 1,
      )
      const threads = found.slice(0, limit).map(toSummary)
      const last = found.length > limit ? threads.at(-1) : undefined
      if (last === undefined) return { threads }
      return { threads, cursor: toCursor({ updatedAt: last.updatedAt, thread: last.key.thread }) }
    })
}

function versionConflict(key: ThreadKey, version: number, change: ThreadChange): MillraceError {
  const message = `The thread ${key.thread} has version ${version}; the change was made from ${change.version}.`
  return new MillraceError('VERSION_CONFLICT', message, {
    details: { key, version, from: change.version, keep: change.keep },
  })
}
