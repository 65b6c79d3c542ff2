import type { Connection, SqlInteger } from './connection.js'
import { keyMatches, keyParams, toText } from './text.js'
import type { LogWatchOptions } from './watch.js'

/** What a watch looks at. Both throw STORE_ERROR when the database cannot be read. */
export type LogState = Pick<LogWatchOptions, 'outsideVersion' | 'lastSeq'>

export function createLogState(connection: Connection): LogState {
  const version = connection.prepare<{ readonly data_version: SqlInteger }>('PRAGMA data_version')
  const last = connection.prepare<{ readonly last_seq: SqlInteger }>(
    `SELECT last_seq FROM log WHERE thread_id = (SELECT id FROM threads WHERE ${keyMatches}) AND run_id = ?
     ORDER BY last_seq DESC LIMIT 1`,
  )
  return {
    outsideVersion: () => connection.attempt(() => Number(version.get()?.data_version)),
    lastSeq: (key, runId) =>
      connection.attempt(() => {
        const row = last.get(...keyParams(key), toText(runId))
        return row && Number(row.last_seq)
      }),
  }
}
