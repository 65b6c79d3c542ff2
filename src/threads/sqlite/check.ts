import { promises } from 'node:fs'
import { resolve } from 'node:path'
import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { SqliteConnection } from './connection.js'
import { toStoreError } from './driver-errors.js'

export interface CheckOptions {
  readonly connection: SqliteConnection
  readonly clock: Clock
  /** Undefined if there is no file, or none that the store has opened. */
  readonly path: string | undefined
}

/** Returns a check of a store, to be called first when it is opened. It rejects with STORE_ERROR. */
export function createCheck({ connection, clock, path }: CheckOptions): () => Promise<void> {
  const checkTables = createTableCheck(connection, clock)
  const checkFile = path === undefined ? undefined : createFileCheck(resolve(path))
  return async () => {
    connection.assertIntact()
    await checkTables()
    await checkFile?.()
  }
}

/** Reads of every table, and writes: a full or read-only disk can still be read. */
function createTableCheck(connection: SqliteConnection, clock: Clock): () => Promise<void> {
  const tables = ['leases', 'threads', 'segments', 'inherited', 'messages', 'runs', 'log'].map((table) =>
    connection.prepare(`SELECT 1 FROM ${table} LIMIT 1`),
  )
  const note = connection.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES ('checked_at', ?)")
  return async () => {
    await connection.read(() => {
      // What is in memory says nothing about the disk. SQLite drops it when this is prepared.
      connection.prepare('PRAGMA shrink_memory').all()
      for (const table of tables) table.all()
    })
    await connection.write(() => note.run(clock.now()))
  }
}

/** With less than this left on the disk, in bytes, the next run may not fit. */
const fullBelow = 1024 * 1024

/**
 * Notices what a connection does not: SQLite continues on files that were deleted or replaced, and finds room for a small
 * write on a full disk.
 */
function createFileCheck(file: string): () => Promise<void> {
  let opened: string | undefined
  return async () => {
    try {
      const found = (await Promise.all([file, `${file}-wal`].map(idOf))).join()
      opened ??= found
      const { bavail, bsize } = await promises.statfs(file)
      if (found !== opened) throw new MillraceError('STORE_ERROR', lostFile)
      if (bavail * bsize < fullBelow) throw new MillraceError('STORE_ERROR', fullDisk)
    } catch (error) {
      throw isMissing(error) ? new MillraceError('STORE_ERROR', lostFile) : toStoreError(error)
    }
  }
}

const lostFile =
  'The SQLite file or its write-ahead log was deleted or replaced. What this process writes is lost: put the right files there, and restart.'
const fullDisk = 'The disk of the SQLite file is full. Make room: nothing can be stored.'

/** Differs for different files. */
async function idOf(file: string): Promise<string> {
  try {
    const { dev, ino } = await promises.stat(file, { bigint: true })
    return `${dev}:${ino}`
  } catch (error) {
    if (isMissing(error)) return 'none'
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
