import { systemClock, type Clock } from '../core/clock.js'
import { createConnection, toStoreError } from './sqlite/connection.js'
import { createContext } from './sqlite/context.js'
import { openDatabase, type SqliteDatabase } from './sqlite/driver.js'
import { createLog } from './sqlite/log.js'
import { prepareSchema } from './sqlite/schema.js'
import { createThreads } from './sqlite/threads.js'
import type { Store } from './store.js'

export type { SqliteDatabase, SqliteStatement } from './sqlite/driver.js'

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
