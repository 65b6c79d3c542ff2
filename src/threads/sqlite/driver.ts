import { mkdir, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import process from 'node:process'
import { MillraceError } from '../../core/errors.js'

/**
 * The members that the store uses of a driver. Databases of `better-sqlite3`, of `libsql` and the `DatabaseSync` of
 * `node:sqlite` have them.
 */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  close(): unknown
  /** False if it is closed. Drivers without this member must throw then. */
  readonly open?: unknown
}

export interface SqliteStatement {
  run(...params: unknown[]): unknown
  /** The first row, undefined if there is none. */
  get(...params: unknown[]): unknown
  all(...params: unknown[]): unknown[]
}

type OpenDatabase = (path: string) => SqliteDatabase

/**
 * Returns a function that opens a file, and may be called several times. Creates the file and its folder if missing, for
 * this user alone. Throws what the driver throws.
 */
export async function databaseOpener(path: string): Promise<() => SqliteDatabase> {
  const openFile = await findDriver()
  if (path === ':memory:') return () => openFile(path)
  // libsql takes some paths for addresses of servers, but never an absolute one.
  const file = resolve(path)
  await createFile(file)
  return () => openFile(file)
}

/** Creates an empty file and its folder if missing. SQLite gives its log and its index beside it the same mode. */
export async function createFile(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await (await open(file, 'a', 0o600)).close()
}

async function findDriver(): Promise<OpenDatabase> {
  const builtIn = process.getBuiltinModule('node:sqlite') as
    { readonly DatabaseSync: new (path: string) => SqliteDatabase } | undefined
  if (builtIn !== undefined) return (path) => new builtIn.DatabaseSync(path)
  try {
    const { default: Database } = await import('libsql')
    return (path) => new Database(path)
  } catch (cause) {
    const message = 'There is no SQLite: run on Node 22.13 or later, or install the package "libsql".'
    throw new MillraceError('STORE_ERROR', message, { cause })
  }
}
