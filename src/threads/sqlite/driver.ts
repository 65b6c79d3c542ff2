import { mkdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import process from 'node:process'
import { MillraceError } from '../../core/errors.js'

/**
 * What a store needs of a SQLite driver: objects of `better-sqlite3`, of `libsql` and the `DatabaseSync` of
 * `node:sqlite` are such databases as they are.
 */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  close(): unknown
  /** False when it is closed. Drivers without it must throw then. */
  readonly open?: unknown
}

export interface SqliteStatement {
  run(...params: unknown[]): unknown
  /** The first row, undefined when there is none. */
  get(...params: unknown[]): unknown
  all(...params: unknown[]): unknown[]
}

type Opener = (path: string) => SqliteDatabase

/** Opens a file, and makes it and its folder when they are missing. Throws whatever the driver throws. */
export async function openDatabase(path: string): Promise<SqliteDatabase> {
  const open = await findDriver()
  if (path === ':memory:') return open(path)
  // libsql takes some texts for addresses of servers. An absolute path is never one.
  const file = resolve(path)
  await mkdir(dirname(file), { recursive: true })
  return open(file)
}

async function findDriver(): Promise<Opener> {
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
