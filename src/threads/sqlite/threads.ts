import { MillraceError } from '../../core/errors.js'
import type { Lease, Owner, Page, ThreadChange, ThreadKey, ThreadPage, ThreadStore } from '../contract.js'
import type { Connection } from './connection.js'
import type { StoreContext } from './store.js'
import { fromCursor, toCursor } from '../thread-list.js'
import {
  selectSummaries,
  selectThreads,
  toSummary,
  toThread,
  type SummaryRow,
  type ThreadRow,
} from './thread-rows.js'
import { keyMatches, keyOfRow, keyParams, ownerParams, toSqlText } from './sql-text.js'

export function createThreads(context: StoreContext): ThreadStore {
  const { connection, clock, leases, watch, table, parts } = context
  // A row that an event came to before anything else is no thread yet.
  const load = connection.prepare<ThreadRow>(
    `${selectThreads} WHERE ${keyMatches} AND (version > 0 OR t.run_id IS NOT NULL)`,
  )
  const idle = connection.prepare<SummaryRow>(
    `${selectSummaries} WHERE version > 0 AND updated_at < ? ORDER BY updated_at LIMIT ?`,
  )
  const unfinished = connection.prepare<ThreadKey>(
    `SELECT t.app, t.user, t.agent, t.thread FROM runs r JOIN threads t ON t.id = r.thread_id AND t.run_id = r.run_id
     WHERE r.status = 'running'`,
  )

  function commit({ key }: Lease, change: ThreadChange): number {
    const now = clock.now()
    // Made in vain when the change is refused; then the transaction is undone.
    const head = table.find(key) ?? table.create(key, now)
    const { version, messageCount } = head
    if (version !== change.version || messageCount < change.keep) throw versionConflict(key, version, change)
    table.update(head.id, change, now)
    parts.changeMessages(head, change)
    if (change.run !== undefined) {
      parts.putRun(head.id, change.run)
      parts.removeOtherLogs(head.id, change.run.runId)
    }
    if (change.log !== undefined) parts.addToLog(head.id, change.log)
    return version + 1
  }

  return {
    load: (key) =>
      connection.read(() => {
        const row = load.get(...keyParams(key))
        return row === undefined ? undefined : toThread(row)
      }),
    begin: (lease, run) =>
      connection.write(() => {
        leases.assertHeld(lease)
        parts.putRun(table.startRun(lease.key, run.runId, clock.now()), run)
      }),
    async commit(lease, change, { release = false } = {}) {
      const version = await connection.write(() => {
        leases.assertHeld(lease)
        const next = commit(lease, change)
        if (release) leases.drop(lease)
        return next
      })
      if (change.run !== undefined || change.log !== undefined) watch.wake(lease.key)
      return version
    },
    async remove(lease) {
      await connection.write(() => {
        leases.assertHeld(lease)
        const id = table.find(lease.key)?.id
        if (id === undefined) return
        parts.removeAll(id)
        table.remove(id)
      })
      watch.wake(lease.key)
    },
    list: createList(connection),
    idle: (before, limit) => connection.read(() => idle.all(before, limit).map(toSummary)),
    unfinished: () => connection.read(() => unfinished.all().map(keyOfRow)),
  }
}

/** Nothing was changed so late. */
const beginning = { updatedAt: Number.MAX_SAFE_INTEGER, thread: '' }

function createList(connection: Connection): (owner: Owner, page: Page) => Promise<ThreadPage> {
  const list = connection.prepare<SummaryRow>(
    `${selectSummaries} WHERE version > 0 AND app = ? AND user = ? AND agent = ?
       AND updated_at <= ? AND (updated_at < ? OR thread > ?)
     ORDER BY updated_at DESC, thread LIMIT ?`,
  )
  return (owner, { limit, cursor }) =>
    connection.read(() => {
      const { updatedAt, thread } = cursor === undefined ? beginning : fromCursor(cursor)
      const rows = list.all(...ownerParams(owner), updatedAt, updatedAt, toSqlText(thread), limit + 1)
      const threads = rows.slice(0, limit).map(toSummary)
      const last = rows.length > limit ? threads.at(-1) : undefined
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
