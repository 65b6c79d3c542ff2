import type { LogEntry, RunLog } from '../store.js'
import type { SqlInteger } from './connection.js'
import type { StoreContext } from './context.js'
import { keyMatches, keyParams, toText } from './text.js'

/** How many batches are read at once: readers rarely want more, and one may be large. */
const batchesPerRead = 32

interface BatchRow {
  readonly first_seq: SqlInteger
  readonly lines: string
}

export function createLog({ connection, clock, leases, watch, table, parts }: StoreContext): RunLog {
  const next = connection.prepare<BatchRow>(
    `SELECT first_seq, lines FROM log
     WHERE thread_id = (SELECT id FROM threads WHERE ${keyMatches}) AND run_id = ? AND last_seq > ?
     ORDER BY last_seq LIMIT ${batchesPerRead}`,
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
        const params = [...keyParams(key), toText(runId)]
        const entries: LogEntry[] = []
        for (let from = after, isLast = false; !isLast && entries.length < limit;) {
          const batches = next.all(...params, from)
          for (const batch of batches) addEntries(entries, batch, { after, limit })
          from = entries.at(-1)?.seq ?? from
          isLast = batches.length < batchesPerRead
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
  const texts = lines.split('\n')
  const from = Math.max(after + 1 - first, 0)
  const to = Math.min(texts.length, from + limit - entries.length)
  for (const [index, json] of texts.slice(from, to).entries())
    entries.push({ seq: first + from + index, json })
}
