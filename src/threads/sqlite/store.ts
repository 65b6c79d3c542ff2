import { systemClock, type Clock } from '../../core/clock.js'
import type { Store } from '../contract.js'
import { retryWhileBusy } from './busy.js'
import { toStoreError } from './driver-errors.js'
import { createConnection, type ConnectionOptions } from './connection.js'
import { createCheck } from './check.js'
import { databaseOpener, type SqliteDatabase } from './driver.js'
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
    const given = options.database
    if (given !== undefined) return await openStore({ open: () => given, clock })
    const { path } = options
    const file = path === ':memory:' ? undefined : path
    return await openStore({ open: await databaseOpener(path), clock, file, isOwn: true })
  } catch (error) {
    throw toStoreError(error)
  }
}

interface StoreParts extends ConnectionOptions {
  /** The file, if the store has opened it itself. */
  readonly file?: string | undefined
}

interface OpenOptions extends Omit<StoreParts, 'database' | 'release'> {
  readonly open: () => SqliteDatabase
  /** Whether the store closes the database. */
  readonly isOwn?: boolean
}

async function openStore({ open, isOwn = false, ...rest }: OpenOptions): Promise<SqliteStore> {
  const [store, database] = await retryWhileBusy(() => {
    // Opened anew for each attempt: after one that another process was in the way of, a connection of libsql may keep
    // seeing the file as it was then, and can never write.
    const database = open()
    try {
      prepareSchema(database)
      const release = isOwn ? () => closeFile(database) : undefined
      return [createStore({ ...rest, database, release }), database] as const
    } catch (error) {
      if (isOwn) database.close()
      throw error
    }
  }, rest.clock)
  try {
    await store.check()
    return store
  } catch (error) {
    if (isOwn) database.close()
    throw error
  }
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
