import { MillraceError } from '../../core/errors.js'
import type { SqliteDatabase, SqliteStatement } from './driver.js'

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

/** Does all of some work that writes or, when it throws, nothing of it. */
type Transact = <T>(work: () => T) => T

/** Puts the writes of one turn into one transaction: that costs more than most of them do, and all its pages are written. */
export interface WriteGroup {
  /** Does work at once when it is among the first of its turn, else at the end of the turn with all that has come by then. */
  readonly write: <T>(work: () => T) => Promise<T>
  /** Does at once what still waits. */
  flush(): void
}

interface Waiting {
  readonly work: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** What one request needs one after the other is not held up when there is no other. */
const atOnce = 4

/** Work must only write, since it may be done twice: when one of a group throws, each is done alone. */
export function createWriteGroup(transact: Transact): WriteGroup {
  let waiting: Waiting[] = []
  let doneInTurn = 0

  const flush = (): void => {
    const group = waiting
    waiting = []
    if (group.length > 1) settleTogether(group, transact)
    else settleEach(group, transact)
  }
  const endTurn = (): void => {
    doneInTurn = 0
    flush()
  }
  const enter = (one: Waiting): void => {
    waiting.push(one)
    if (doneInTurn === atOnce) return
    if (doneInTurn === 0) setImmediate(endTurn)
    doneInTurn++
    flush()
  }

  return {
    write: <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        enter({ work, resolve: (value) => resolve(value as T), reject })
      }),
    flush,
  }
}

function settleTogether(group: readonly Waiting[], transact: Transact): void {
  let isRefused = false as boolean
  const doAll = (): unknown[] => {
    isRefused = true
    const results = group.map(({ work }) => work())
    isRefused = false
    return results
  }
  try {
    const results = transact(doAll)
    for (const [n, { resolve }] of group.entries()) resolve(results[n])
  } catch (error) {
    if (isRefused) settleEach(group, transact)
    // The database cannot be written: each of them would only wait for the same answer.
    else for (const { reject } of group) reject(error)
  }
}

function settleEach(group: readonly Waiting[], transact: Transact): void {
  for (const { work, resolve, reject } of group) {
    try {
      resolve(transact(work))
    } catch (error) {
      reject(error)
    }
  }
}
