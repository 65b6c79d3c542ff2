import type { Message } from '@ag-ui/core'
import type { RunRecord, RunStatus, Thread, ThreadKey, ThreadSummary } from '../thread.js'
import type { SqlInteger, SqlValue } from './connection.js'
import { fromText, keyOfRow, toText } from './text.js'

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
    toText(run.runId),
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
    title: fromText(row.title),
    ...(row.forked_from === null ? {} : { forkedFrom: fromText(row.forked_from) }),
  }
}

function runOf(row: RunRow): { run?: RunRecord } {
  if (row.run_id === null) return {}
  return {
    run: {
      runId: fromText(row.run_id),
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
