import { MillraceError } from '../../core/errors.js'
import { toPromise } from '../../core/to-promise.js'
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

/** A database that throws STORE_ERROR, also once it is closed. */
export interface SqliteConnection {
  /** The caller vouches for `Row`. */
  prepare<Row>(sql: string): Query<Row>
  /** Runs work that reads, at once. */
  readNow<T>(work: () => T): T
  /** The same, as a promise. */
  read<T>(work: () => T): Promise<T>
  /**
   * Runs work that writes in a transaction that it may share with other work of the same tick. If it throws, none of it
   * is written. It may run twice, so it must do nothing but write.
   */
  write<T>(work: () => T): Promise<T>
  /** Nothing works afterwards. May be called twice. */
  close(): Promise<void>
}

/** `release` closes the database; without it, the database stays open. */
export function createConnection(database: SqliteDatabase, release?: () => void): SqliteConnection {
  let isClosed = false

  function attempt<T>(work: () => T): T {
    // Statements of some drivers keep working when their database is closed.
    if (isClosed || database.open === false)
      throw new MillraceError('STORE_ERROR', 'The SQLite store is closed.')
    return withStoreErrors(work)
  }

  const group = createWriteGroup((work) => attempt(() => inTransaction(database, work)))

  return {
    prepare: <Row>(sql: string) => toQuery<Row>(withStoreErrors(() => database.prepare(sql))),
    readNow: attempt,
    read: (work) => toPromise(() => attempt(work)),
    write: group.write,
    close: () =>
      toPromise(() => {
        if (isClosed) return
        group.flush()
        isClosed = true
        if (release !== undefined) withStoreErrors(release)
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

export function toStoreError(error: unknown): MillraceError {
  if (MillraceError.isInstance(error)) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new MillraceError('STORE_ERROR', `The SQLite store cannot be used: ${reason}`, { cause: error })
}

/** Does work in a transaction. If it throws, nothing is written. */
type Transact = <T>(work: () => T) => T

/** Joins the writes of one tick into one transaction, which costs more than most of its writes. */
interface WriteGroup {
  /** Does the first writes of a tick at once, and all later ones together at its end. */
  readonly write: <T>(work: () => T) => Promise<T>
  /** Does the waiting writes now. */
  flush(): void
}

interface WaitingWrite {
  readonly work: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** A single request makes this many writes one after the other, which need not wait. */
const immediateWrites = 4

/** Work may run twice: if one of a group throws, each runs alone. */
export function createWriteGroup(transact: Transact): WriteGroup {
  let waiting: WaitingWrite[] = []
  let doneInTick = 0

  const flush = (): void => {
    const group = waiting
    waiting = []
    if (group.length > 1) settleTogether(group, transact)
    else settleEach(group, transact)
  }
  const endTick = (): void => {
    doneInTick = 0
    flush()
  }
  const enter = (one: WaitingWrite): void => {
    waiting.push(one)
    if (doneInTick === immediateWrites) return
    if (doneInTick === 0) setImmediate(endTick)
    doneInTick++
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

function settleTogether(group: readonly WaitingWrite[], transact: Transact): void {
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
    // The database cannot be written: each write alone would fail the same way, later.
    else for (const { reject } of group) reject(error)
  }
}

function settleEach(group: readonly WaitingWrite[], transact: Transact): void {
  for (const { work, resolve, reject } of group) {
    try {
      resolve(transact(work))
    } catch (error) {
      reject(error)
    }
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
