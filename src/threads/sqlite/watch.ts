import { textOfKey } from '../key-text.js'
import type { Clock } from '../../core/clock.js'
import type { MillraceError } from '../../core/errors.js'
import type { LogPosition } from '../store.js'
import type { ThreadKey } from '../thread.js'
import { toStoreError } from './connection.js'

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
    const name = textOfKey(waiter.key)
    const waiters = threads.get(name) ?? new Set()
    threads.set(name, waiters.add(waiter))
    stopPolling ??= clock.schedule(pollMs, poll)
  }

  function remove(waiter: Waiter): void {
    const name = textOfKey(waiter.key)
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
      for (const waiter of [...(threads.get(textOfKey(key)) ?? [])])
        if (runId === undefined || runId === waiter.runId) waiter.settle()
    },
    close() {
      for (const waiter of all()) waiter.settle()
    },
  }
}
