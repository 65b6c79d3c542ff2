import { MillraceError } from '../../core/errors.js'
import type { SqliteDatabase, SqliteStatement } from './driver.js'
import { createWriteGroup } from './write-group.js'

/** What a store binds to a statement: all drivers take these, and some nothing else. */
export type SqlValue = string | number | null

/** A whole number in a row. A driver may be set to give big integers. */
export type SqlInteger = number | bigint

/** A prepared statement whose rows are known. */
interface Query<Row> {
  run(...params: SqlValue[]): void
  get(...params: SqlValue[]): Row | undefined
  all(...params: SqlValue[]): Row[]
}

/** A database whose errors are STORE_ERRORs, and that refuses to work once it is closed. */
export interface Connection {
  /** `Row` is what the columns are; the caller has to know. */
  prepare<Row>(sql: string): Query<Row>
  /** Does work that reads. */
  attempt<T>(work: () => T): T
  /** The same, as a promise. */
  read<T>(work: () => T): Promise<T>
  /**
   * Does work that writes, in a transaction that it may share with other work of the same turn. When it throws, nothing
   * of it was written. It may be done twice, so it must not do anything else.
   */
  write<T>(work: () => T): Promise<T>
  /** Nothing works afterwards. May be called twice. */
  close(): Promise<void>
}

/** `release` lets go of the database; without it, it stays open. */
export function createConnection(database: SqliteDatabase, release?: () => void): Connection {
  let isClosed = false

  function attempt<T>(work: () => T): T {
    // The statements of some drivers go on working when their database is closed.
    if (isClosed || database.open === false)
      throw new MillraceError('STORE_ERROR', 'The SQLite store is closed.')
    return translated(work)
  }

  const group = createWriteGroup((work) => attempt(() => inTransaction(database, work)))

  return {
    prepare: <Row>(sql: string) => toQuery<Row>(translated(() => database.prepare(sql))),
    attempt,
    read: (work) => promised(() => attempt(work)),
    write: group.write,
    close: () =>
      promised(() => {
        if (isClosed) return
        group.flush()
        isClosed = true
        if (release !== undefined) translated(release)
      }),
  }
}

function toQuery<Row>(statement: SqliteStatement): Query<Row> {
  return {
    run: (...params) => {
      statement.run(...params)
    },
    get: (...params) => statement.get(...params) as Row | undefined,
    all: (...params) => statement.all(...params) as Row[],
  }
}

/** Does all of some work or nothing, also beside other processes. */
export function inTransaction<T>(database: SqliteDatabase, work: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    rollBack(database)
    throw error
  }
}

function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // SQLite rolls back by itself when the disk is full or broken. What has led here tells more than this.
  }
}

/** Makes any error of a driver a STORE_ERROR. */
function translated<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw toStoreError(error)
  }
}

export function toStoreError(error: unknown): MillraceError {
  if (MillraceError.isInstance(error)) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new MillraceError('STORE_ERROR', `The SQLite store cannot be used: ${reason}`, { cause: error })
}

function promised<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work())
  })
}
