import { MillraceError } from '../../core/errors.js'
import type { Clock } from '../../core/clock.js'
import { retryWhileBusy } from './busy.js'
import { isDamaged, toStoreError } from './driver-errors.js'
import { createWriteQueue } from './write-queue.js'
import type { SqliteDatabase, SqliteStatement } from './driver.js'
import type { Owner, ThreadKey } from '../contract.js'

/** The values that every driver can bind to a statement. */
type SqlValue = string | number | null

/** A whole number in a row. Some drivers return big integers. */
export type SqlInteger = number | bigint

/** A prepared statement with typed rows. */
interface Query<Row> {
  run(...params: SqlValue[]): void
  get(...params: SqlValue[]): Row | undefined
  all(...params: SqlValue[]): Row[]
}

/** A database that throws STORE_ERROR, also once it is closed. Never waits without letting others run. */
export interface SqliteConnection {
  /** The caller vouches for `Row`. */
  prepare<Row>(sql: string): Query<Row>
  /** Runs work that reads, at once. */
  readNow<T>(work: () => T): T
  /** Runs work that reads, and again for as long as another process holds the file. It must do nothing but read until then. */
  read<T>(work: () => T | Promise<T>): Promise<T>
  /**
   * Runs work that writes in a transaction that it may share with other work. Keeps the order of calls, and waits while
   * another process holds the file. If it throws, none of it is written. It may run twice, so it must do nothing but write.
   */
  write<T>(work: () => T): Promise<T>
  /** Throws STORE_ERROR if the file was found damaged before. */
  assertIntact(): void
  /** Nothing works afterwards. May be called twice. */
  close(): Promise<void>
}

export interface ConnectionOptions {
  readonly database: SqliteDatabase
  readonly clock: Clock
  /** Closes the database. Without it, the database stays open. */
  readonly release?: (() => void) | undefined
}

export function createConnection({ database, clock, release }: ConnectionOptions): SqliteConnection {
  let isClosed = false
  let damage: unknown

  function attempt<T>(work: () => T): T {
    // Statements of some drivers keep working when their database is closed.
    if (isClosed || database.open === false)
      throw new MillraceError('STORE_ERROR', 'The SQLite store is closed.')
    try {
      return work()
    } catch (error) {
      if (isDamaged(error)) damage = error
      throw error
    }
  }

  const writes = createWriteQueue((work) => attempt(() => inTransaction(database, work)), clock)

  return {
    prepare: <Row>(sql: string) => toQuery<Row>(database.prepare(sql)),
    readNow: (work) => withStoreErrors(() => attempt(work)),
    read: (work) => retryWhileBusy(() => attempt(work), clock),
    write: writes.write,
    assertIntact() {
      if (damage !== undefined) throw toStoreError(damage)
    },
    async close() {
      await writes.settled()
      if (isClosed) return
      isClosed = true
      if (release !== undefined) withStoreErrors(release)
    },
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

/** Does all of the work or nothing, also beside other processes. */
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
    // SQLite rolls back by itself when the disk is full or broken. The first error says more than this one.
  }
}

/** Makes any error of a driver a STORE_ERROR. */
function withStoreErrors<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw toStoreError(error)
  }
}

/**
 * A text as it is stored. SQLite and its drivers cut texts at a zero character and cannot hold half of a surrogate pair, so
 * two users could become one: such texts are stored as JSON, which begins with a quote.
 */
export function toSqlText(text: string): string {
  return text.startsWith('"') || text.includes('\0') || /\p{Surrogate}/u.test(text)
    ? JSON.stringify(text)
    : text
}

export function fromSqlText(text: string): string {
  return text.startsWith('"') ? (JSON.parse(text) as string) : text
}

/** The members of an owner in the order of statements. */
export function ownerParams({ app, user, agent }: Owner): [string, string, string] {
  return [toSqlText(app), toSqlText(user), toSqlText(agent)]
}

export function keyParams(key: ThreadKey): [string, string, string, string] {
  return [...ownerParams(key), toSqlText(key.thread)]
}

/** The condition that takes `keyParams`. */
export const keyMatches = 'app = ? AND user = ? AND agent = ? AND thread = ?'

export function toThreadKey({ app, user, agent, thread }: ThreadKey): ThreadKey {
  return {
    app: fromSqlText(app),
    user: fromSqlText(user),
    agent: fromSqlText(agent),
    thread: fromSqlText(thread),
  }
}
