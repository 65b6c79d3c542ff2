import { type Clock, systemClock } from '../../core/clock.js'
import { type Connection, createConnection, toStoreError } from './connection.js'
import { openDatabase, type SqliteDatabase } from './driver.js'
import { type LogWatch, createLog, createLogState, createLogWatch } from './log.js'
import { prepareSchema } from './schema.js'
import { createThreads } from './threads.js'
import type { Store } from '../contract.js'
import { createLeases, type SqliteLeases } from './leases.js'
import { type ThreadParts, type ThreadTable, createThreadParts, createThreadTable } from './thread-rows.js'

export type { SqliteDatabase, SqliteStatement } from './driver.js'

export type SqliteStoreOptions = SqliteStoreSource & {
  /** Where the time comes from. All processes that share a file must agree on it. */
  readonly clock?: Clock
}

/** A file, or a database that the caller has opened and closes. */
export type SqliteStoreSource =
  | {
      /** Made with its folder when missing. `:memory:` keeps nothing. */
      readonly path: string
      readonly database?: never
    }
  | {
      /**
       * For this store alone: it brings its own tables, settings and `user_version`, and notices the writes of other
       * connections only.
       */
      readonly database: SqliteDatabase
      readonly path?: never
    }

/**
 * Opens a store in a SQLite file. Several processes of one machine may share the file. Uses `node:sqlite` where Node
 * has it, else the package `libsql`. Throws STORE_ERROR when there is neither, when the file cannot be used, and when
 * a later Millrace has written it.
 *
 * @example
 * const store = await createSqliteStore({ path: './data/threads.db' })
 */
export async function createSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { clock = systemClock } = options
  try {
    if (options.database !== undefined) return createStore({ database: options.database, clock })
    const database = await openDatabase(options.path)
    try {
      return createStore({ database, clock, release: () => closeFile(database) })
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw toStoreError(error)
  }
}

interface StoreParts {
  readonly database: SqliteDatabase
  readonly clock: Clock
  readonly release?: () => void
}

function createStore({ database, clock, release }: StoreParts): Store {
  prepareSchema(database)
  const connection = createConnection(database, release)
  const context = createContext(connection, clock)
  const note = connection.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES ('checked_at', ?)")
  return {
    threads: createThreads(context),
    log: createLog(context),
    leases: context.leases,
    // Writes, since a disk that is full or read-only can still be read.
    check: () => connection.write(() => note.run(clock.now())),
    close() {
      context.watch.close()
      return connection.close()
    },
  }
}

/** Leaves everything in the one file, also when a driver keeps it open until its statements are collected. */
function closeFile(database: SqliteDatabase): void {
  try {
    database.exec('PRAGMA wal_checkpoint(PASSIVE)')
  } finally {
    database.close()
  }
}

/** What the halves of a store share. */
export interface StoreContext {
  readonly connection: Connection
  readonly clock: Clock
  readonly leases: SqliteLeases
  readonly watch: LogWatch
  readonly table: ThreadTable
  readonly parts: ThreadParts
}

/** Prepares the statements, so the tables must be there. */
export function createContext(connection: Connection, clock: Clock): StoreContext {
  return {
    connection,
    clock,
    leases: createLeases(connection, clock),
    watch: createLogWatch({ clock, ...createLogState(connection) }),
    table: createThreadTable(connection),
    parts: createThreadParts(connection),
  }
}
