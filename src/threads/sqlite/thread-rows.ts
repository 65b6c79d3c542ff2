import type {
  LogBatch,
  MessageChange,
  RunRecord,
  RunStatus,
  Thread,
  ThreadChange,
  ThreadKey,
  ThreadSummary,
} from '../contract.js'
import type { Connection, SqlInteger, SqlValue } from './connection.js'
import { fromSqlText, keyMatches, keyOfRow, keyParams, toSqlText } from './sql-text.js'
import { toLogText } from '../log-text.js'
import { MillraceError } from '../../core/errors.js'
import type { Message } from '@ag-ui/core'

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
    startRun: (key, runId, now) => Number(startRun.get(...keyParams(key), now, now, toSqlText(runId))?.id),
    remove: (id) => {
      remove.run(id)
    },
  }
}

function textOrNull(text: string | undefined): string | null {
  return text === undefined ? null : toSqlText(text)
}

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
      if (findLater.get(threadId, toSqlText(runId), firstSeq) !== undefined) {
        const message = `The run ${runId} has an event ${firstSeq} or a later one already.`
        throw new MillraceError('STORE_ERROR', message, { details: { runId, firstSeq } })
      }
      addBatch.run(threadId, toSqlText(runId), firstSeq + lines.length - 1, firstSeq, toLogText(lines))
    },
    removeOtherLogs(threadId, runId) {
      for (const statement of removeLogs) statement.run(threadId, toSqlText(runId))
    },
    removeAll(threadId) {
      for (const statement of removeAll) statement.run(threadId)
    },
  }
}

/** The latest run of a thread, as its columns; all null when there is none. */
interface RunRow {
  readonly run_id: string | null
  readonly status: RunStatus
  readonly started_at: SqlInteger
  readonly ended_at: SqlInteger | null
  readonly next_seq: SqlInteger
  readonly error: string | null
  readonly start?: string | null
}

interface CommonRow extends RunRow, ThreadKey {
  readonly version: SqlInteger
  readonly created_at: SqlInteger
  readonly updated_at: SqlInteger
  readonly title: string
  readonly forked_from: string | null
}

export interface SummaryRow extends CommonRow {
  readonly message_count: SqlInteger
  readonly interrupt_count: SqlInteger
  readonly pending_count: SqlInteger
}

export interface ThreadRow extends CommonRow {
  readonly state: string
  readonly interrupts: string
  readonly pending: string
  readonly checkpoint: string | null
  readonly shown: string | null
  /** All of them with commas between; null when there are none. */
  readonly messages: string | null
}

const commonColumns = `t.app, t.user, t.agent, t.thread, t.version, t.created_at, t.updated_at, t.title, t.forked_from,
  r.run_id, r.status, r.started_at, r.ended_at, r.next_seq, r.error`

const withRun = 'FROM threads t LEFT JOIN runs r ON r.thread_id = t.id AND r.run_id = t.run_id'

/** The beginning of a statement that gives `SummaryRow`s. */
export const selectSummaries = `SELECT ${commonColumns}, t.message_count, t.interrupt_count, t.pending_count ${withRun}`

/**
 * The beginning of a statement that gives `ThreadRow`s. SQLite joins the messages: that takes half the time of a row
 * for each. It keeps the order of the inner query for this.
 */
export const selectThreads = `SELECT ${commonColumns}, r.start, t.state, t.interrupts, t.pending, t.checkpoint, t.shown,
  (SELECT group_concat(json) FROM
    (SELECT json FROM messages WHERE thread_id = t.id ORDER BY position)) AS messages ${withRun}`

export function toThread(row: ThreadRow): Thread {
  return {
    ...commonOf(row),
    messages: JSON.parse(`[${row.messages ?? ''}]`) as Message[],
    state: JSON.parse(row.state) as unknown,
    interrupts: JSON.parse(row.interrupts) as Thread['interrupts'],
    pendingToolCalls: JSON.parse(row.pending) as Thread['pendingToolCalls'],
    ...(row.checkpoint === null ? {} : { checkpoint: JSON.parse(row.checkpoint) as unknown }),
    ...(row.shown === null ? {} : { shown: JSON.parse(row.shown) as unknown }),
    ...runOf(row),
  }
}

export function toSummary(row: SummaryRow): ThreadSummary {
  return {
    ...commonOf(row),
    messageCount: Number(row.message_count),
    interruptCount: Number(row.interrupt_count),
    pendingToolCallCount: Number(row.pending_count),
    ...runOf(row),
  }
}

/** The columns of a run in the order of its table, without the thread. */
export function runParams(run: RunRecord): SqlValue[] {
  return [
    toSqlText(run.runId),
    run.status,
    run.startedAt,
    run.endedAt ?? null,
    run.nextSeq,
    toJsonOrNull(run.error),
    toJsonOrNull(run.start),
  ]
}

export function toJsonOrNull(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

function commonOf(row: CommonRow) {
  return {
    key: keyOfRow(row),
    version: Number(row.version),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    title: fromSqlText(row.title),
    ...(row.forked_from === null ? {} : { forkedFrom: fromSqlText(row.forked_from) }),
  }
}

function runOf(row: RunRow): { run?: RunRecord } {
  if (row.run_id === null) return {}
  return {
    run: {
      runId: fromSqlText(row.run_id),
      status: row.status,
      startedAt: Number(row.started_at),
      nextSeq: Number(row.next_seq),
      ...(row.ended_at === null ? {} : { endedAt: Number(row.ended_at) }),
      ...(row.error === null ? {} : { error: JSON.parse(row.error) as NonNullable<RunRecord['error']> }),
      ...(typeof row.start === 'string'
        ? { start: JSON.parse(row.start) as NonNullable<RunRecord['start']> }
        : {}),
    },
  }
}
