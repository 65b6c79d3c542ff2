import type { Message } from '@ag-ui/core'
import type {
  RunRecord,
  RunStatus,
  Thread,
  ThreadChange,
  ThreadHead,
  ThreadKey,
  ThreadLabels,
  ThreadSummary,
} from '../contract.js'
import { foldCase } from '../thread-list.js'
import {
  type SqlInteger,
  type SqliteConnection,
  fromSqlText,
  keyMatches,
  keyParams,
  toSqlText,
  toThreadKey,
} from './connection.js'
import { createMessageRows } from './message-rows.js'

/** The rows of threads, their messages and their runs. All methods are for use in a transaction. */
export interface ThreadRows {
  find(key: ThreadKey): RowHead | undefined
  /** The version that a commit on a row makes. A new thread begins above all that were removed. */
  nextVersion(head: RowHead): number
  /** Creates the row of a thread. Without a commit or a run it is no thread yet. */
  create(key: ThreadKey, now: number): RowHead
  /** Writes a change, except for its log. With a `source`, the messages that are kept are those of another thread. */
  update(
    head: RowHead & { readonly source?: RowHead | undefined },
    change: ThreadChange,
    next: { readonly version: number; readonly now: number },
  ): void
  /** Records the live run. Creates the row of the thread if there is none. */
  startRun(key: ThreadKey, run: RunRecord, now: number): void
  /** Returns false if there is no such thread. */
  label(key: ThreadKey, labels: ThreadLabels): boolean
  remove(head: RowHead): void
}

/** The columns of a thread that a write needs. All other tables refer to its id. */
interface RowHead {
  readonly id: number
  readonly version: number
  readonly messageCount: number
}

interface HeadRow {
  readonly id: SqlInteger
  readonly version: SqlInteger
  readonly message_count: SqlInteger
}

export function createThreadRows(connection: SqliteConnection): ThreadRows {
  const head = connection.prepare<HeadRow>(
    `SELECT id, version, message_count FROM threads WHERE ${keyMatches}`,
  )
  const insertThread = `INSERT INTO threads (app, user, agent, thread, version, created_at, updated_at, message_count,
       interrupt_count, pending_count, run_id, title, interrupts, pending, state)
     VALUES (?, ?, ?, ?, 0, ?, ?, 0, 0, 0, ?, '', '[]', '[]', '{}')`
  const insert = connection.prepare<HeadRow>(`${insertThread} RETURNING id`)
  const insertOrStart = connection.prepare<HeadRow>(
    `${insertThread} ON CONFLICT (app, user, agent, thread) DO UPDATE SET run_id = excluded.run_id RETURNING id`,
  )
  const update = connection.prepare(
    `UPDATE threads SET version = ?, updated_at = max(updated_at, ?), message_count = ?,
       interrupt_count = ?, pending_count = ?, title = iif(is_title_given, title, coalesce(?, title)),
       folded_title = iif(is_title_given, folded_title, coalesce(?, folded_title)), forked_from = coalesce(?, forked_from),
       run_id = coalesce(?, run_id), interrupts = ?, pending = ?, state = ?, checkpoint = ?,
       shown = CASE WHEN ? THEN coalesce(shown, state) ELSE ? END WHERE id = ?`,
  )
  const messages = createMessageRows(connection)
  const writeRun = createWriteRun(connection)
  const versions = createVersions(connection)
  const remove = ['runs WHERE thread_id', 'threads WHERE id'].map((rows) =>
    connection.prepare(`DELETE FROM ${rows} = ?`),
  )

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
    nextVersion: ({ version }) => (version || versions.highestRemoved()) + 1,
    update({ id, messageCount, source }, change, { version, now }) {
      const { keep, append, interrupts, pendingToolCalls, run } = change
      update.run(
        version,
        now,
        keep + append.length,
        interrupts.length,
        pendingToolCalls.length,
        textOrNull(change.title),
        foldedOrNull(change.title),
        textOrNull(change.forkedFrom),
        textOrNull(run?.runId),
        JSON.stringify(interrupts),
        JSON.stringify(pendingToolCalls),
        JSON.stringify(change.state),
        jsonOrNull(change.checkpoint),
        change.keepsShown === true ? 1 : 0,
        jsonOrNull(change.shown),
        id,
      )
      if (source) messages.inherit(id, source.id, keep)
      messages.change(id, source ? keep : messageCount, change)
      if (run !== undefined) writeRun(id, run)
    },
    startRun(key, run, now) {
      const row = insertOrStart.get(...keyParams(key), now, now, toSqlText(run.runId))
      writeRun(Number(row?.id), run)
    },
    label: createLabel(connection),
    remove({ id, version }) {
      versions.noteRemoved(version)
      messages.remove(id)
      for (const statement of remove) statement.run(id)
    },
  }
}

function createWriteRun(connection: SqliteConnection): (threadId: number, run: RunRecord) => void {
  const put = connection.prepare(
    `INSERT OR REPLACE INTO runs (thread_id, run_id, status, started_at, ended_at, next_seq, error, start)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return (threadId, run) =>
    put.run(
      threadId,
      toSqlText(run.runId),
      run.status,
      run.startedAt,
      run.endedAt ?? null,
      run.nextSeq,
      jsonOrNull(run.error),
      jsonOrNull(run.start),
    )
}

/** The highest version of all threads that were removed. One number: nothing else stays of them. */
function createVersions(connection: SqliteConnection) {
  const highest = connection.prepare<{ readonly value: SqlInteger }>(
    "SELECT value FROM meta WHERE name = 'removed_version'",
  )
  const note = connection.prepare(
    `INSERT INTO meta (name, value) VALUES ('removed_version', ?)
     ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`,
  )
  return {
    highestRemoved: () => Number(highest.get()?.value ?? 0),
    noteRemoved: (version: number) => note.run(version),
  }
}

function createLabel(connection: SqliteConnection): ThreadRows['label'] {
  // A row with events alone is no thread yet.
  const label = connection.prepare<HeadRow>(
    `UPDATE threads SET title = coalesce(?, title), folded_title = coalesce(?, folded_title), is_title_given = max(is_title_given, ?),
       archived = coalesce(?, archived)
     WHERE ${keyMatches} AND (version > 0 OR run_id IS NOT NULL) RETURNING id`,
  )
  return (key, { title, archived }) => {
    const isArchived = archived === undefined ? null : Number(archived)
    const row = label.get(
      textOrNull(title),
      foldedOrNull(title),
      Number(title !== undefined),
      isArchived,
      ...keyParams(key),
    )
    return row !== undefined
  }
}

function textOrNull(text: string | undefined): string | null {
  return text === undefined ? null : toSqlText(text)
}

function foldedOrNull(text: string | undefined): string | null {
  return text === undefined ? null : toSqlText(foldCase(text))
}

function jsonOrNull(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

/** The columns of a thread's latest run; all null if there is none. */
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
  readonly archived: SqlInteger
  readonly forked_from: string | null
}

export interface SummaryRow extends CommonRow {
  readonly message_count: SqlInteger
  readonly interrupt_count: SqlInteger
  readonly pending_count: SqlInteger
}

export interface HeadOfThreadRow extends CommonRow {
  readonly state: string
  readonly interrupts: string
  readonly pending: string
  readonly checkpoint: string | null
  readonly message_count: SqlInteger
}

export interface ThreadRow extends Omit<HeadOfThreadRow, 'message_count'> {
  readonly shown: string | null
  /** All messages, separated by commas; null if there are none. */
  readonly inherited: string | null
  readonly messages: string | null
}

const commonColumns = `t.app, t.user, t.agent, t.thread, t.version, t.created_at, t.updated_at, t.title, t.archived, t.forked_from,
  r.run_id, r.status, r.started_at, r.ended_at, r.next_seq, r.error`

const fromThreads = 'FROM threads t LEFT JOIN runs r ON r.thread_id = t.id AND r.run_id = t.run_id'

/** The beginning of a statement that returns `SummaryRow`s. */
export const selectSummaries = `SELECT ${commonColumns}, t.message_count, t.interrupt_count, t.pending_count ${fromThreads}`

const headColumns = `${commonColumns}, r.start, t.state, t.interrupts, t.pending, t.checkpoint`

/** The beginning of a query for `HeadOfThreadRow`s. */
export const selectHeads = `SELECT ${headColumns}, t.message_count ${fromThreads}`

/**
 * The beginning of a query for `ThreadRow`s. SQLite joins the messages, in half the time of one row for each, and
 * keeps the order of the inner query.
 */
export const selectThreads = `SELECT ${headColumns}, t.shown,
  (SELECT group_concat(json) FROM
    (SELECT m.json FROM inherited i CROSS JOIN messages m ON m.segment_id = i.segment_id
       AND m.position >= i.start AND m.position < i.until WHERE i.thread_id = t.id
     ORDER BY i.start, m.position)) AS inherited,
  (SELECT group_concat(json) FROM
    (SELECT json FROM messages WHERE segment_id = (SELECT id FROM segments WHERE thread_id = t.id)
     ORDER BY position)) AS messages ${fromThreads}`

export function toThread(row: ThreadRow): Thread {
  const shown = row.shown === null ? {} : { shown: JSON.parse(row.shown) as unknown }
  return { ...headMembers(row), ...shown, messages: toMessages(row) }
}

export function toThreadHead(row: HeadOfThreadRow): ThreadHead {
  return { ...headMembers(row), messageCount: Number(row.message_count) }
}

function headMembers(row: Omit<HeadOfThreadRow, 'message_count'>): Omit<Thread, 'messages' | 'shown'> {
  return {
    ...commonMembers(row),
    state: JSON.parse(row.state) as unknown,
    interrupts: JSON.parse(row.interrupts) as Thread['interrupts'],
    pendingToolCalls: JSON.parse(row.pending) as Thread['pendingToolCalls'],
    ...(row.checkpoint === null ? {} : { checkpoint: JSON.parse(row.checkpoint) as unknown }),
    ...latestRun(row),
  }
}

function toMessages({ inherited, messages }: ThreadRow): Message[] {
  const texts = [inherited, messages].filter((text) => text !== null)
  return JSON.parse(`[${texts.join()}]`) as Message[]
}

export function toSummary(row: SummaryRow): ThreadSummary {
  return {
    ...commonMembers(row),
    messageCount: Number(row.message_count),
    interruptCount: Number(row.interrupt_count),
    pendingToolCallCount: Number(row.pending_count),
    ...latestRun(row),
  }
}

function commonMembers(row: CommonRow) {
  return {
    key: toThreadKey(row),
    version: Number(row.version),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    title: fromSqlText(row.title),
    ...(Number(row.archived) === 0 ? {} : { archived: true as const }),
    ...(row.forked_from === null ? {} : { forkedFrom: fromSqlText(row.forked_from) }),
  }
}

function latestRun(row: RunRow): { run?: RunRecord } {
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
