import { fromLogText } from '../log-text.js'
import type { LogEntry, RunLog } from '../store.js'
import type { SqlInteger } from './connection.js'
import type { StoreContext } from './context.js'
import { keyMatches, keyParams, toText } from './text.js'

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
        const params = [...keyParams(key), toText(runId)]
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
