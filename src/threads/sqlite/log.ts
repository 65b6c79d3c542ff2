import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { LogBatch, LogEntry, LogPosition, RunLog, ThreadKey } from '../contract.js'
import { fromLogText, toLogText } from '../log-text.js'
import { threadKeyText } from '../thread-key.js'
import { type SqlInteger, type SqliteConnection, keyMatches, keyParams, toSqlText } from './connection.js'
import { isBusy, toStoreError } from './driver-errors.js'
import type { SqliteLeases } from './leases.js'
import type { ThreadRows } from './thread-rows.js'

export interface SqliteLog extends RunLog {
  /** Appends without a lease. Throws STORE_ERROR if the number is not new. For use in a transaction. */
  add(threadId: number, batch: LogBatch): void
  /** Removes the logs of a thread, except that of one run if it is named. For use in a transaction. */
  remove(threadId: number, exceptRunId?: string): void
  /** Wakes the waiters of a run or, without one, of any run of the thread. For use after a transaction. */
  wake(key: ThreadKey, runId?: string): void
  /** Wakes all waiters. */
  close(): void
}

export interface SqliteLogOptions {
  readonly connection: SqliteConnection
  readonly clock: Clock
  readonly leases: SqliteLeases
  readonly rows: ThreadRows
}

/** A row holds a batch. */
interface BatchRow {
  readonly first_seq: SqlInteger
  readonly lines: string
}

export function createSqliteLog({ connection, clock, leases, rows }: SqliteLogOptions): SqliteLog {
  const next = connection.prepare<BatchRow>(
    `SELECT first_seq, lines FROM log
     WHERE thread_id = (SELECT id FROM threads WHERE ${keyMatches}) AND run_id = ? AND last_seq > ?
     ORDER BY last_seq LIMIT ?`,
  )
  const insert = connection.prepare(
    'INSERT INTO log (thread_id, run_id, last_seq, first_seq, lines) VALUES (?, ?, ?, ?, ?)',
  )
  const findLater = connection.prepare(
    'SELECT 1 FROM log WHERE thread_id = ? AND run_id = ? AND last_seq >= ? LIMIT 1',
  )
  const removeAll = connection.prepare('DELETE FROM log WHERE thread_id = ?')
  // Two ranges, so that SQLite does not walk through the log that stays.
  const removeOthers = ['<', '>'].map((side) =>
    connection.prepare(`DELETE FROM log WHERE thread_id = ? AND run_id ${side} ?`),
  )
  const watch = createLogWatch(connection, clock)

  const add = (threadId: number, { runId, firstSeq, lines }: LogBatch): void => {
    if (lines.length === 0) return
    if (findLater.get(threadId, toSqlText(runId), firstSeq) !== undefined) {
      const message = `The run ${runId} has an event ${firstSeq} or a later one already.`
      throw new MillraceError('STORE_ERROR', message, { details: { runId, firstSeq } })
    }
    insert.run(threadId, toSqlText(runId), firstSeq + lines.length - 1, firstSeq, toLogText(lines))
  }

  return {
    async append(lease, batch) {
      await connection.write(() => {
        leases.assertCurrent(lease)
        if (batch.lines.length === 0) return
        const { id } = rows.find(lease.key) ?? rows.create(lease.key, clock.now())
        add(id, batch)
      })
      watch.wake(lease.key, batch.runId)
    },
    read: (key, { runId, after }, limit) =>
      connection.read(() => {
        const params = [...keyParams(key), toSqlText(runId)]
        const entries: LogEntry[] = []
        // A batch has one event or thousands: doubling the number of batches reads little that is not wanted.
        for (let count = 1, isLast = false; !isLast && entries.length < limit; count *= 2) {
          const batches = next.all(...params, entries.at(-1)?.seq ?? after, count)
          for (const batch of batches) addBatchEntries(entries, batch, { after, limit })
          isLast = batches.length < count
        }
        return entries
      }),
    changed: watch.wait,
    add,
    remove(threadId, exceptRunId) {
      if (exceptRunId === undefined) removeAll.run(threadId)
      else for (const statement of removeOthers) statement.run(threadId, toSqlText(exceptRunId))
    },
    wake: watch.wake,
    close: watch.close,
  }
}

function addBatchEntries(
  entries: LogEntry[],
  { first_seq, lines }: BatchRow,
  { after, limit }: { readonly after: number; readonly limit: number },
): void {
  const first = Number(first_seq)
  const texts = fromLogText(lines)
  const from = Math.max(after + 1 - first, 0)
  const to = Math.min(texts.length, from + limit - entries.length)
  for (const [index, json] of texts.slice(from, to).entries())
    entries.push({ seq: first + from + index, json })
}

/** How often to look for events of other processes, in milliseconds. */
const pollMs = 100

interface LogWatch {
  /** Resolves at once if there is an event after the position, else when the log of the run changes. */
  readonly wait: (key: ThreadKey, position: LogPosition, signal: AbortSignal) => Promise<void>
  readonly wake: (key: ThreadKey, runId?: string) => void
  readonly close: () => void
}

interface Waiter {
  readonly key: ThreadKey
  readonly runId: string
  readonly lastSeq: number | undefined
  settle(error?: MillraceError): void
}

/** Wakes waiters for events: at once for events of this process, by polling for those of others. */
function createLogWatch(connection: SqliteConnection, clock: Clock): LogWatch {
  const threads = new Map<string, Set<Waiter>>()
  const readVersion = connection.prepare<{ readonly data_version: SqlInteger }>('PRAGMA data_version')
  const readLast = connection.prepare<{ readonly last_seq: SqlInteger }>(
    `SELECT last_seq FROM log WHERE thread_id = (SELECT id FROM threads WHERE ${keyMatches}) AND run_id = ?
     ORDER BY last_seq DESC LIMIT 1`,
  )
  let knownVersion = 0
  let stopPolling: (() => void) | undefined

  /** Changes when another process has written. */
  const outsideVersion = (): number => connection.readNow(() => Number(readVersion.get()?.data_version))
  const lastSeq = (key: ThreadKey, runId: string): number | undefined =>
    connection.readNow(() => {
      const row = readLast.get(...keyParams(key), toSqlText(runId))
      return row && Number(row.last_seq)
    })
  const all = (): Waiter[] => [...threads.values()].flatMap((waiters) => [...waiters])

  function poll(): void {
    stopPolling = clock.schedule(pollMs, poll)
    try {
      const version = outsideVersion()
      if (version === knownVersion) return
      for (const waiter of all()) if (lastSeq(waiter.key, waiter.runId) !== waiter.lastSeq) waiter.settle()
      knownVersion = version
    } catch (error) {
      // Another process holds the whole file. The next poll looks again.
      if (isBusy(error)) return
      const failure = toStoreError(error)
      for (const waiter of all()) waiter.settle(failure)
    }
  }

  function add(waiter: Waiter): void {
    const name = threadKeyText(waiter.key)
    const waiters = threads.get(name) ?? new Set()
    threads.set(name, waiters.add(waiter))
    stopPolling ??= clock.schedule(pollMs, poll)
  }

  function addWaiter(run: Omit<Waiter, 'settle'>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => waiter.settle()
      const waiter: Waiter = {
        ...run,
        settle(error) {
          remove(waiter)
          signal.removeEventListener('abort', abort)
          if (error === undefined) resolve()
          else reject(error)
        },
      }
      signal.addEventListener('abort', abort)
      add(waiter)
    })
  }

  function remove(waiter: Waiter): void {
    const name = threadKeyText(waiter.key)
    const waiters = threads.get(name)
    waiters?.delete(waiter)
    if (waiters?.size === 0) threads.delete(name)
    if (threads.size > 0) return
    stopPolling?.()
    stopPolling = undefined
  }

  return {
    wait: (key, { runId, after }, signal) =>
      connection.read(() => {
        if (signal.aborted) return undefined
        // Before the log is read, or events in between would be missed.
        if (threads.size === 0) knownVersion = outsideVersion()
        const last = lastSeq(key, runId)
        return last !== undefined && last > after
          ? undefined
          : addWaiter({ key, runId, lastSeq: last }, signal)
      }),
    wake(key, runId) {
      for (const waiter of [...(threads.get(threadKeyText(key)) ?? [])])
        if (runId === undefined || runId === waiter.runId) waiter.settle()
    },
    close() {
      for (const waiter of all()) waiter.settle()
    },
  }
}
