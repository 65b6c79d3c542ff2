import { systemClock, type Clock } from '../../core/clock.js'
import type { Store } from '../contract.js'
import { retryWhileBusy } from './busy.js'
import { toStoreError } from './driver-errors.js'
import { createConnection, type ConnectionOptions } from './connection.js'
import { createCheck } from './check.js'
import { openDatabase, type SqliteDatabase } from './driver.js'
import { runInThread, type RunStatements, type SqlRow } from './file-thread.js'
import { createSqliteLeases } from './leases.js'
import { createSqliteLog } from './log.js'
import { createMaintenance, type Maintenance } from './maintenance.js'
import { prepareSchema } from './schema.js'
import { createThreadRows } from './thread-rows.js'
import { createSqliteThreads } from './threads.js'

export { backupSqlite, restoreSqlite, type CopyOptions } from './backup.js'
export type { SqliteDatabase, SqliteStatement } from './driver.js'

/** A store with what only a file needs. */
export interface SqliteStore extends Store, Maintenance {}

export type SqliteStoreOptions = SqliteStoreSource & {
  /** Processes that share a file must agree on the time. */
  readonly clock?: Clock
}

/** A file, or a database that the caller opens and closes. */
export type SqliteStoreSource =
  | {
      /** Created with its folder if missing. `:memory:` keeps nothing. */
      readonly path: string
      readonly database?: never
    }
  | {
      /**
       * For this store alone: it has its own tables, settings and `user_version`, and notices writes of other connections
       * only.
       */
      readonly database: SqliteDatabase
      readonly path?: never
    }

/**
 * Opens a store in a SQLite file. Several processes of one machine may share the file. Uses `node:sqlite` if Node has it, else
 * the package `libsql`. Throws STORE_ERROR if there is neither, if the file cannot be used, and if a later Millrace has
 * written it.
 *
 * @example
 * const store = await createSqliteStore({ path: './data/threads.db' })
 */
export async function createSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { clock = systemClock } = options
  try {
    if (options.database !== undefined) return await openStore({ database: options.database, clock })
    const { path } = options
    const database = await openDatabase(path)
    const file = path === ':memory:' ? undefined : path
    try {
      return await openStore({ database, clock, file, release: () => closeFile(database) })
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw toStoreError(error)
  }
}

interface StoreParts extends ConnectionOptions {
  /** The file, if the store has opened it itself. */
  readonly file?: string | undefined
}

async function openStore(parts: StoreParts): Promise<SqliteStore> {
  const store = await retryWhileBusy(() => {
    prepareSchema(parts.database)
    return createStore(parts)
  }, parts.clock)
  await store.check()
  return store
}

function createStore({ file, ...parts }: StoreParts): SqliteStore {
  const { clock, database } = parts
  const connection = createConnection(parts)
  const leases = createSqliteLeases(connection, clock)
  const rows = createThreadRows(connection)
  const log = createSqliteLog({ connection, clock, leases, rows })
  const { close: wakeReaders, ...threads } = createSqliteThreads({ connection, clock, leases, log, rows })
  const runHere: RunStatements = (...statements) =>
    connection.read(() => statements.flatMap((sql) => database.prepare(sql).all() as SqlRow[]))
  const { settled, ...maintenance } = createMaintenance(file === undefined ? runHere : runInThread(file))
  return {
    threads,
    log,
    leases,
    check: createCheck({ connection, clock, path: file }),
    ...maintenance,
    async close() {
      log.close()
      wakeReaders()
      await settled()
      await connection.close()
    },
  }
}

/** Leaves everything in the one file, even if the driver keeps it open until its statements are collected. */
function closeFile(database: SqliteDatabase): void {
  try {
    database.exec('PRAGMA wal_checkpoint(PASSIVE)')
  } finally {
    database.close()
  }
}
