import { MillraceError } from '../../core/errors.js'
import { toPromise } from '../../core/to-promise.js'
import type { LogBatch, LogEntry, RunLog, ThreadKey } from '../contract.js'
import { fromLogText, toLogText } from '../log-text.js'
import { threadKeyText } from '../thread-key.js'
import type { MemoryLeases } from './leases.js'
import { createWaiters } from './waiters.js'

export interface MemoryLog extends RunLog {
  /** Appends without a lease. Throws STORE_ERROR, with nothing changed, if the number is not new. */
  add(key: ThreadKey, batch: LogBatch): void
  /** Removes the logs of a thread, except that of one run if it is named, and wakes their waiters. */
  remove(key: ThreadKey, exceptRunId?: string): void
  /** Wakes all waiters. */
  close(): void
}

export function createMemoryLog({ assertCurrent }: Pick<MemoryLeases, 'assertCurrent'>): MemoryLog {
  const threads = new Map<string, Map<string, LogLines>>()
  const waiters = createWaiters()
  const find = (key: ThreadKey, runId: string): LogLines | undefined =>
    threads.get(threadKeyText(key))?.get(runId)

  const add = (key: ThreadKey, batch: LogBatch): void => {
    if (batch.lines.length === 0) return
    const runs = getOrAdd(threads, threadKeyText(key), () => new Map<string, LogLines>())
    getOrAdd(runs, batch.runId, createLogLines).append(batch)
    waiters.wake(waiterName(key, batch.runId))
  }

  return {
    append: (lease, batch) =>
      toPromise(() => {
        assertCurrent(lease)
        add(lease.key, batch)
      }),
    read: (key, { runId, after }, limit) => toPromise(() => find(key, runId)?.read(after, limit) ?? []),
    async changed(key, { runId, after }, signal) {
      const lastSeq = find(key, runId)?.lastSeq() ?? -1
      if (lastSeq <= after) await waiters.wait(waiterName(key, runId), signal)
    },
    add,
    remove(key, exceptRunId) {
      const runs = threads.get(threadKeyText(key))
      if (runs === undefined) return
      for (const runId of runs.keys()) {
        if (runId === exceptRunId) continue
        runs.delete(runId)
        waiters.wake(waiterName(key, runId))
      }
      if (runs.size === 0) threads.delete(threadKeyText(key))
    },
    close: waiters.wakeAll,
  }
}

function waiterName(key: ThreadKey, runId: string): string {
  return JSON.stringify([threadKeyText(key), runId])
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const found = map.get(key)
  if (found !== undefined) return found
  const created = create()
  map.set(key, created)
  return created
}

/** The lines of one run. Their numbers grow, with gaps. */
interface LogLines {
  /** The number of the last line, -1 if there is none. */
  lastSeq(): number
  /** Throws STORE_ERROR, with nothing added, if the number is not higher than those before. */
  append(batch: LogBatch): void
  /** Reads at most `limit` lines after a number, as fast at the beginning as at the end. */
  read(after: number, limit: number): LogEntry[]
}

/** Consecutive lines as one text: thousands of small strings would keep the garbage collector busy. */
interface LogBlock {
  readonly firstSeq: number
  readonly lastSeq: number
  readonly text: string
}

function createLogLines(): LogLines {
  const blocks: LogBlock[] = []
  const lastSeq = (): number => blocks.at(-1)?.lastSeq ?? -1
  return {
    lastSeq,
    append({ runId, firstSeq, lines }) {
      if (lines.length === 0) return
      if (firstSeq <= lastSeq())
        throw new MillraceError('STORE_ERROR', `The log has an event with the number ${firstSeq} already.`, {
          details: { runId, firstSeq, lastSeq: lastSeq() },
        })
      blocks.push({ firstSeq, lastSeq: firstSeq + lines.length - 1, text: toLogText(lines) })
    },
    read(after, limit) {
      const entries: LogEntry[] = []
      for (let at = firstBlockAfter(blocks, after); at < blocks.length && entries.length < limit; at++)
        addBlockEntries(entries, blocks[at], { after, limit })
      return entries
    },
  }
}

/** The index of the first block with a line after the number, by binary search. */
function firstBlockAfter(blocks: readonly LogBlock[], after: number): number {
  let [low, high] = [0, blocks.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((blocks[middle]?.lastSeq ?? Infinity) > after) high = middle
    else low = middle + 1
  }
  return low
}

function addBlockEntries(
  entries: LogEntry[],
  block: LogBlock | undefined,
  { after, limit }: { after: number; limit: number },
): void {
  if (block === undefined) return
  const { firstSeq, text } = block
  const lines = fromLogText(text)
  for (let at = Math.max(after + 1 - firstSeq, 0); at < lines.length && entries.length < limit; at++) {
    const json = lines[at]
    if (json !== undefined) entries.push({ seq: firstSeq + at, json })
  }
}
