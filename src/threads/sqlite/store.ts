import { systemClock, type Clock } from '../../core/clock.js'
import type { Store } from '../contract.js'
import { retryWhileBusy, toStoreError } from './busy.js'
import { createConnection, type ConnectionOptions } from './connection.js'
import { openDatabase, type SqliteDatabase } from './driver.js'
import { createSqliteLeases } from './leases.js'
import { createSqliteLog } from './log.js'
import { prepareSchema } from './schema.js'
import { createThreadRows } from './thread-rows.js'
import { createSqliteThreads } from './threads.js'

export type { SqliteDatabase, SqliteStatement } from './driver.js'

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
export async function createSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { clock = systemClock } = options
  try {
    if (options.database !== undefined) return await openStore({ database: options.database, clock })
    const database = await openDatabase(options.path)
    try {
      return await openStore({ database, clock, release: () => closeFile(database) })
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw toStoreError(error)
  }
}

function openStore(parts: ConnectionOptions): Promise<Store> {
  return retryWhileBusy(() => {
    prepareSchema(parts.database)
    return createStore(parts)
  }, parts.clock)
}

function createStore(parts: ConnectionOptions): Store {
  const { clock } = parts
  const connection = createConnection(parts)
  const leases = createSqliteLeases(connection, clock)
  const rows = createThreadRows(connection)
  const log = createSqliteLog({ connection, clock, leases, rows })
  const note = connection.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES ('checked_at', ?)")
  return {
    threads: createSqliteThreads({ connection, clock, leases, log, rows }),
    log,
    leases,
    // Writes, since a full or read-only disk can still be read.
    check: () => connection.write(() => note.run(clock.now())),
    close() {
      log.close()
      return connection.close()
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
