import type { ThreadChange, ThreadKey } from '../thread.js'
import type { Connection, SqlInteger } from './connection.js'
import { toJsonOrNull } from './rows.js'
import { keyMatches, keyParams, toText } from './text.js'

/** What a write has to know of a thread. */
export interface ThreadHead {
  readonly id: number
  readonly version: number
  readonly messageCount: number
}

/** The rows of threads themselves. Everything that belongs to a thread names the id of its row. */
export interface ThreadTable {
  find(key: ThreadKey): ThreadHead | undefined
  /** Makes the row of a thread that has none. With neither a commit nor a run it is no thread yet. */
  create(key: ThreadKey, now: number): ThreadHead
  /** Writes a change, except for the rows of its messages and its run. */
  update(id: number, change: ThreadChange, now: number): void
  /** Notes the run that is at work on a thread, makes its row if there is none, and gives the id of that. */
  startRun(key: ThreadKey, runId: string, now: number): number
  remove(id: number): void
}

interface HeadRow {
  readonly id: SqlInteger
  readonly version: SqlInteger
  readonly message_count: SqlInteger
}

export function createThreadTable(connection: Connection): ThreadTable {
  const head = connection.prepare<HeadRow>(
    `SELECT id, version, message_count FROM threads WHERE ${keyMatches}`,
  )
  const inserting = `INSERT INTO threads (app, user, agent, thread, version, created_at, updated_at, message_count,
       interrupt_count, pending_count, run_id, title, interrupts, pending, state)
     VALUES (?, ?, ?, ?, 0, ?, ?, 0, 0, 0, ?, '', '[]', '[]', '{}')`
  const insert = connection.prepare<HeadRow>(`${inserting} RETURNING id`)
  const update = connection.prepare(
    `UPDATE threads SET version = version + 1, updated_at = max(updated_at, ?), message_count = ?,
       interrupt_count = ?, pending_count = ?, title = coalesce(?, title), forked_from = coalesce(?, forked_from),
       run_id = coalesce(?, run_id), interrupts = ?, pending = ?, state = ?, checkpoint = ?, shown = ? WHERE id = ?`,
  )
  const startRun = connection.prepare<HeadRow>(
    `${inserting} ON CONFLICT (app, user, agent, thread) DO UPDATE SET run_id = excluded.run_id RETURNING id`,
  )
  const remove = connection.prepare('DELETE FROM threads WHERE id = ?')

  return {
    find(key) {
      const row = head.get(...keyParams(key))
      return (
        row && { id: Number(row.id), version: Number(row.version), messageCount: Number(row.message_count) }
      )
    },
    create(key, now) {
      const row = insert.get(...keyParams(key), now, now, null)
      return { id: Number(row?.id), version: 0, messageCount: 0 }
    },
    update: (id, change, now) => {
      update.run(
        now,
        change.keep + change.append.length,
        change.interrupts.length,
        change.pendingToolCalls.length,
        textOrNull(change.title),
        textOrNull(change.forkedFrom),
        textOrNull(change.run?.runId),
        JSON.stringify(change.interrupts),
        JSON.stringify(change.pendingToolCalls),
        JSON.stringify(change.state),
        toJsonOrNull(change.checkpoint),
        toJsonOrNull(change.shown),
        id,
      )
    },
    startRun: (key, runId, now) => Number(startRun.get(...keyParams(key), now, now, toText(runId))?.id),
    remove: (id) => {
      remove.run(id)
    },
  }
}

function textOrNull(text: string | undefined): string | null {
  return text === undefined ? null : toText(text)
}
