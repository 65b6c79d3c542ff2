import { threadKeyText } from '../thread-key.js'
import type { LogBatch, LogEntry, RunLog, ThreadKey } from '../contract.js'
import type { MemoryLeases } from './leases.js'
import { toPromise } from '../../core/to-promise.js'
import { MillraceError } from '../../core/errors.js'
import { fromLogText, toLogText } from '../log-text.js'

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
    threads.get(threadKeyText(key))?.get(runId)

  const add = (key: ThreadKey, batch: LogBatch): void => {
    if (batch.lines.length === 0) return
    const runs = getOrMake(threads, threadKeyText(key), () => new Map<string, LogLines>())
    getOrMake(runs, batch.runId, createLogLines).append(batch)
    waiters.wake(nameOf(key, batch.runId))
  }
  const log: RunLog = {
    append: (lease, batch) =>
      toPromise(() => {
        assertCurrent(lease)
        add(lease.key, batch)
      }),
    read: (key, { runId, after }, limit) => toPromise(() => linesOf(key, runId)?.read(after, limit) ?? []),
    async changed(key, { runId, after }, signal) {
      const lastSeq = linesOf(key, runId)?.lastSeq() ?? -1
      if (lastSeq <= after) await waiters.wait(nameOf(key, runId), signal)
    },
  }
  return {
    log,
    add,
    forget(key, exceptRunId) {
      const runs = threads.get(threadKeyText(key))
      if (runs === undefined) return
      for (const runId of runs.keys()) {
        if (runId === exceptRunId) continue
        runs.delete(runId)
        waiters.wake(nameOf(key, runId))
      }
      if (runs.size === 0) threads.delete(threadKeyText(key))
    },
    close: waiters.wakeAll,
  }
}

/** What those who wait for a run wait for. */
function nameOf(key: ThreadKey, runId: string): string {
  return JSON.stringify([threadKeyText(key), runId])
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

/** Lines whose numbers follow each other, as one text: thousands of small strings would keep the garbage collector busy. */
interface Stretch {
  readonly firstSeq: number
  readonly lastSeq: number
  readonly text: string
}

/** The lines of one run. Their numbers grow, and may leave some out. */
export interface LogLines {
  /** The number of the last line, -1 when there is none. */
  lastSeq(): number
  /** Throws STORE_ERROR, with nothing added, when a number is not higher than those before. */
  append(batch: LogBatch): void
  /** At most `limit` lines after a number. Takes no longer for lines further back. */
  read(after: number, limit: number): LogEntry[]
}

/** Makes an empty log. */
export function createLogLines(): LogLines {
  const stretches: Stretch[] = []
  const lastSeq = (): number => stretches.at(-1)?.lastSeq ?? -1
  return {
    lastSeq,
    append({ runId, firstSeq, lines }) {
      if (lines.length === 0) return
      if (firstSeq <= lastSeq())
        throw new MillraceError('STORE_ERROR', `The log has an event with the number ${firstSeq} already.`, {
          details: { runId, firstSeq, lastSeq: lastSeq() },
        })
      stretches.push({ firstSeq, lastSeq: firstSeq + lines.length - 1, text: toLogText(lines) })
    },
    read(after, limit) {
      const entries: LogEntry[] = []
      for (
        let index = firstAfter(stretches, after);
        index < stretches.length && entries.length < limit;
        index++
      )
        addEntries(entries, stretches[index], { after, limit })
      return entries
    },
  }
}

/** Where the first stretch with a line after that number is, by halving. */
function firstAfter(stretches: readonly Stretch[], after: number): number {
  let [low, high] = [0, stretches.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((stretches[middle]?.lastSeq ?? Infinity) > after) high = middle
    else low = middle + 1
  }
  return low
}

function addEntries(
  entries: LogEntry[],
  stretch: Stretch | undefined,
  { after, limit }: { after: number; limit: number },
): void {
  if (stretch === undefined) return
  const { firstSeq, text } = stretch
  const lines = fromLogText(text)
  for (let at = Math.max(after + 1 - firstSeq, 0); at < lines.length && entries.length < limit; at++) {
    const json = lines[at]
    if (json !== undefined) entries.push({ seq: firstSeq + at, json })
  }
}

/** People who wait for something that has a name. */
export interface Waiters {
  /** Resolves when the name is woken, or when `signal` aborts, and leaves nothing behind then. */
  wait(name: string, signal: AbortSignal): Promise<void>
  wake(name: string): void
  readonly wakeAll: () => void
}

/** Makes a place to wait at. Nothing is kept of a name that nobody waits for. */
export function createWaiters(): Waiters {
  const waiting = new Map<string, Set<() => void>>()

  const wake = (name: string): void => {
    for (const resolve of [...(waiting.get(name) ?? [])]) resolve()
  }
  const leave = (name: string, resolve: () => void): void => {
    const others = waiting.get(name)
    others?.delete(resolve)
    if (others?.size === 0) waiting.delete(name)
  }

  return {
    wait(name, signal) {
      if (signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const go = (): void => {
          leave(name, go)
          signal.removeEventListener('abort', go)
          resolve()
        }
        const others = waiting.get(name)
        if (others === undefined) waiting.set(name, new Set([go]))
        else others.add(go)
        signal.addEventListener('abort', go)
      })
    },
    wake,
    wakeAll() {
      for (const name of [...waiting.keys()]) wake(name)
    },
  }
}
