import { toLogText } from '../log-text.js'
import type { LogBatch, MessageChange, RunRecord } from '../thread.js'
import { MillraceError } from '../../core/errors.js'
import type { Connection } from './connection.js'
import { runParams } from './rows.js'
import { toText } from './text.js'
import type { ThreadHead } from './thread-table.js'

/** The rows that belong to threads: messages, runs, logs. */
export interface ThreadParts {
  /** Touches the rows from `keep` on only. */
  changeMessages(head: ThreadHead, change: MessageChange): void
  putRun(threadId: number, run: RunRecord): void
  /** One row holds the batch: its lines stand one below the other. Throws STORE_ERROR when a number is there already. */
  addToLog(threadId: number, batch: LogBatch): void
  /** Removes the logs of all runs except one. */
  removeOtherLogs(threadId: number, runId: string): void
  removeAll(threadId: number): void
}

export function createThreadParts(connection: Connection): ThreadParts {
  const cut = connection.prepare('DELETE FROM messages WHERE thread_id = ? AND position >= ?')
  const add = connection.prepare('INSERT INTO messages (thread_id, position, json) VALUES (?, ?, ?)')
  const putRun = connection.prepare(
    `INSERT OR REPLACE INTO runs (thread_id, run_id, status, started_at, ended_at, next_seq, error, start)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const addBatch = connection.prepare(
    'INSERT INTO log (thread_id, run_id, last_seq, first_seq, lines) VALUES (?, ?, ?, ?, ?)',
  )
  const findLater = connection.prepare(
    'SELECT 1 FROM log WHERE thread_id = ? AND run_id = ? AND last_seq >= ? LIMIT 1',
  )
  // Two ranges, so that the log that stays is not walked through.
  const removeLogs = ['<', '>'].map((side) =>
    connection.prepare(`DELETE FROM log WHERE thread_id = ? AND run_id ${side} ?`),
  )
  const removeAll = ['messages', 'runs', 'log'].map((table) =>
    connection.prepare(`DELETE FROM ${table} WHERE thread_id = ?`),
  )

  return {
    changeMessages({ id, messageCount }, { keep, append }) {
      if (keep < messageCount) cut.run(id, keep)
      append.forEach((message, index) => {
        add.run(id, keep + index, JSON.stringify(message))
      })
    },
    putRun: (threadId, run) => {
      putRun.run(threadId, ...runParams(run))
    },
    addToLog(threadId, { runId, firstSeq, lines }) {
      if (lines.length === 0) return
      if (findLater.get(threadId, toText(runId), firstSeq) !== undefined) {
        const message = `The run ${runId} has an event ${firstSeq} or a later one already.`
        throw new MillraceError('STORE_ERROR', message, { details: { runId, firstSeq } })
      }
      addBatch.run(threadId, toText(runId), firstSeq + lines.length - 1, firstSeq, toLogText(lines))
    },
    removeOtherLogs(threadId, runId) {
      for (const statement of removeLogs) statement.run(threadId, toText(runId))
    },
    removeAll(threadId) {
      for (const statement of removeAll) statement.run(threadId)
    },
  }
}
