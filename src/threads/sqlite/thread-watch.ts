import type { Clock } from '../../core/clock.js'
import type { MillraceError } from '../../core/errors.js'
import type { KnownThread, ThreadKey } from '../contract.js'
import { threadKeyText } from '../thread-key.js'
import { type SqlInteger, type SqliteConnection, keyMatches, keyParams } from './connection.js'
import { isBusy, toStoreError } from './driver-errors.js'

/** How often to look for changes of other processes, in milliseconds. People who follow a thread at rest can wait. */
const pollMs = 250

interface ThreadWatch {
  /** Resolves at once if the thread is not as known, else when it changes. */
  readonly wait: (key: ThreadKey, known: KnownThread, signal: AbortSignal) => Promise<void>
  readonly wake: (key: ThreadKey) => void
  readonly close: () => void
}

interface Waiter {
  readonly key: ThreadKey
  readonly known: KnownThread
  settle(error?: MillraceError): void
}

interface KnownRow {
  readonly version: SqlInteger
  readonly is_running: SqlInteger
}

/** Wakes readers of threads: at once for changes of this process, by polling for those of others. */
export function createThreadWatch(connection: SqliteConnection, clock: Clock): ThreadWatch {
  const threads = new Map<string, Set<Waiter>>()
  const readVersion = connection.prepare<{ readonly data_version: SqlInteger }>('PRAGMA data_version')
  const readKnown = connection.prepare<KnownRow>(
    `SELECT version, EXISTS (SELECT 1 FROM runs r WHERE r.thread_id = t.id AND r.run_id = t.run_id AND r.status = 'running')
       AS is_running FROM threads t WHERE ${keyMatches}`,
  )
  let knownVersion = 0
  let stopPolling: (() => void) | undefined

  /** Changes when another process has written. */
  const outsideVersion = (): number => connection.readNow(() => Number(readVersion.get()?.data_version))
  const isAsKnown = ({ key, known }: Pick<Waiter, 'key' | 'known'>): boolean => {
    const row = connection.readNow(() => readKnown.get(...keyParams(key)))
    return (
      Number(row?.version ?? 0) === known.version && Boolean(Number(row?.is_running ?? 0)) === known.isRunning
    )
  }
  const all = (): Waiter[] => [...threads.values()].flatMap((waiters) => [...waiters])

  function poll(): void {
    stopPolling = clock.schedule(pollMs, poll)
    try {
      const version = outsideVersion()
      if (version === knownVersion) return
      for (const waiter of all()) if (!isAsKnown(waiter)) waiter.settle()
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
    threads.set(name, (threads.get(name) ?? new Set()).add(waiter))
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

  function addWaiter(key: ThreadKey, known: KnownThread, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => waiter.settle()
      const waiter: Waiter = {
        key,
        known,
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

  return {
    wait: (key, known, signal) =>
      connection.read(() => {
        if (signal.aborted) return undefined
        // Before the thread is read, or changes in between would be missed.
        if (threads.size === 0) knownVersion = outsideVersion()
        return isAsKnown({ key, known }) ? addWaiter(key, known, signal) : undefined
      }),
    wake(key) {
      for (const waiter of [...(threads.get(threadKeyText(key)) ?? [])]) waiter.settle()
    },
    close() {
      for (const waiter of all()) waiter.settle()
    },
  }
}
