import { fromLogText } from '../log-text.js'
import type { LogEntry, LogPosition, RunLog, ThreadKey } from '../contract.js'
import { type Connection, type SqlInteger, toStoreError } from './connection.js'
import type { StoreContext } from './store.js'
import { keyMatches, keyParams, toSqlText } from './sql-text.js'
import { threadKeyText } from '../thread-key.js'
import type { Clock } from '../../core/clock.js'
import type { MillraceError } from '../../core/errors.js'

interface BatchRow {
  readonly first_seq: SqlInteger
  readonly lines: string
}

export function createLog({ connection, clock, leases, watch, table, parts }: StoreContext): RunLog {
  const next = connection.prepare<BatchRow>(
    `SELECT first_seq, lines FROM log
     WHERE thread_id = (SELECT id FROM threads WHERE ${keyMatches}) AND run_id = ? AND last_seq > ?
     ORDER BY last_seq LIMIT ?`,
  )

  return {
    async append(lease, batch) {
      await connection.write(() => {
        leases.assertHeld(lease)
        if (batch.lines.length === 0) return
        const { id } = table.find(lease.key) ?? table.create(lease.key, clock.now())
        parts.addToLog(id, batch)
      })
      watch.wake(lease.key, batch.runId)
    },
    read: (key, { runId, after }, limit) =>
      connection.read(() => {
        const params = [...keyParams(key), toSqlText(runId)]
        const entries: LogEntry[] = []
        // A batch may be one event or thousands: twice as many each time reads little that is not wanted.
        for (let count = 1, isLast = false; !isLast && entries.length < limit; count *= 2) {
          const batches = next.all(...params, entries.at(-1)?.seq ?? after, count)
          for (const batch of batches) addEntries(entries, batch, { after, limit })
          isLast = batches.length < count
        }
        return entries
      }),
    changed: (key, position, signal) => watch.wait(key, position, signal),
  }
}

function addEntries(
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

/** What a watch looks at. Both throw STORE_ERROR when the database cannot be read. */
export type LogState = Pick<LogWatchOptions, 'outsideVersion' | 'lastSeq'>

export function createLogState(connection: Connection): LogState {
  const version = connection.prepare<{ readonly data_version: SqlInteger }>('PRAGMA data_version')
  const last = connection.prepare<{ readonly last_seq: SqlInteger }>(
    `SELECT last_seq FROM log WHERE thread_id = (SELECT id FROM threads WHERE ${keyMatches}) AND run_id = ?
     ORDER BY last_seq DESC LIMIT 1`,
  )
  return {
    outsideVersion: () => connection.attempt(() => Number(version.get()?.data_version)),
    lastSeq: (key, runId) =>
      connection.attempt(() => {
        const row = last.get(...keyParams(key), toSqlText(runId))
        return row && Number(row.last_seq)
      }),
  }
}

/** How often to look for what other processes have appended, in milliseconds. */
const pollMs = 100

export interface LogWatchOptions {
  readonly clock: Clock
  /** Changes when another process has written. */
  readonly outsideVersion: () => number
  /** The number of the last event of a run; undefined when there is none. */
  readonly lastSeq: (key: ThreadKey, runId: string) => number | undefined
}

/** Those who wait for events. */
export interface LogWatch {
  /** Resolves at once when there is an event after a number, else when the log is not as it is now any more. */
  wait(key: ThreadKey, position: LogPosition, signal: AbortSignal): Promise<void>
  /** The log of a run was changed by this store; without a run, maybe all logs of the thread. */
  wake(key: ThreadKey, runId?: string): void
  /** Lets everybody go. */
  close(): void
}

interface Waiter {
  readonly key: ThreadKey
  readonly runId: string
  readonly lastSeq: number | undefined
  settle(error?: MillraceError): void
}

export function createLogWatch({ clock, outsideVersion, lastSeq }: LogWatchOptions): LogWatch {
  const threads = new Map<string, Set<Waiter>>()
  let seen = 0
  let stopPolling: (() => void) | undefined

  const all = (): Waiter[] => [...threads.values()].flatMap((waiters) => [...waiters])

  function poll(): void {
    stopPolling = clock.schedule(pollMs, poll)
    try {
      const version = outsideVersion()
      if (version === seen) return
      seen = version
      for (const waiter of all()) if (lastSeq(waiter.key, waiter.runId) !== waiter.lastSeq) waiter.settle()
    } catch (error) {
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
    async wait(key, { runId, after }, signal) {
      if (signal.aborted) return
      // Before the log is read, or what comes in between would be missed.
      if (threads.size === 0) seen = outsideVersion()
      const last = lastSeq(key, runId)
      if (last !== undefined && last > after) return
      await new Promise<void>((resolve, reject) => {
        const abort = (): void => waiter.settle()
        const waiter: Waiter = {
          key,
          runId,
          lastSeq: last,
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
    },
    wake(key, runId) {
      for (const waiter of [...(threads.get(threadKeyText(key)) ?? [])])
        if (runId === undefined || runId === waiter.runId) waiter.settle()
    },
    close() {
      for (const waiter of all()) waiter.settle()
    },
  }
}
