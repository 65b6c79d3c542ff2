import { textOfKey } from '../key-text.js'
import type { RunLog } from '../store.js'
import type { LogBatch, ThreadKey } from '../thread.js'

import type { MemoryLeases } from './leases.js'
import { createLogLines, type LogLines } from './log-lines.js'
import { promised } from './promised.js'
import { createWaiters } from './waiters.js'

/** The logs of one process, and what threads do with them. */
export interface MemoryLog {
  readonly log: RunLog
  /** Appends without asking for a lease. Throws STORE_ERROR, with nothing changed, for a number that is not new. */
  add(key: ThreadKey, batch: LogBatch): void
  /** Forgets the logs of a thread, except that of one run when it is named. Who waits for them is told. */
  forget(key: ThreadKey, exceptRunId?: string): void
  /** Tells everybody who waits. */
  close(): void
}

/** Makes the logs of a store. */
export function createMemoryLog({ assertCurrent }: Pick<MemoryLeases, 'assertCurrent'>): MemoryLog {
  const threads = new Map<string, Map<string, LogLines>>()
  const waiters = createWaiters()
  const linesOf = (key: ThreadKey, runId: string): LogLines | undefined =>
    threads.get(textOfKey(key))?.get(runId)

  const add = (key: ThreadKey, batch: LogBatch): void => {
    if (batch.lines.length === 0) return
    const runs = getOrMake(threads, textOfKey(key), () => new Map<string, LogLines>())
    getOrMake(runs, batch.runId, createLogLines).append(batch)
    waiters.wake(nameOf(key, batch.runId))
  }
  const log: RunLog = {
    append: (lease, batch) =>
      promised(() => {
        assertCurrent(lease)
        add(lease.key, batch)
      }),
    read: (key, { runId, after }, limit) => promised(() => linesOf(key, runId)?.read(after, limit) ?? []),
    async changed(key, { runId, after }, signal) {
      const lastSeq = linesOf(key, runId)?.lastSeq() ?? -1
      if (lastSeq <= after) await waiters.wait(nameOf(key, runId), signal)
    },
  }
  return {
    log,
    add,
    forget(key, exceptRunId) {
      const runs = threads.get(textOfKey(key))
      if (runs === undefined) return
      for (const runId of runs.keys()) {
        if (runId === exceptRunId) continue
        runs.delete(runId)
        waiters.wake(nameOf(key, runId))
      }
      if (runs.size === 0) threads.delete(textOfKey(key))
    },
    close: waiters.wakeAll,
  }
}

/** What those who wait for a run wait for. */
function nameOf(key: ThreadKey, runId: string): string {
  return JSON.stringify([textOfKey(key), runId])
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}
