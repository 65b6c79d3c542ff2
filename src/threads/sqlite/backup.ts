import { randomUUID } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { MillraceError } from '../../core/errors.js'
import { createFile } from './driver.js'
import { damagedFile, isBusy, isDamaged, toStoreError } from './driver-errors.js'
import { runInThread, type RunStatements } from './file-thread.js'
import { assertKnownVersion } from './schema.js'

export interface CopyOptions {
  readonly from: string
  readonly to: string
}

/**
 * Copies a SQLite file of threads, whole and as of one moment, while others read and write it. The copy is checked before it
 * gets its name. Throws STORE_ERROR if there is nothing to copy, or a file of that name already.
 *
 * @example
 * await backupSqlite({ from: './data/threads.db', to: './backups/monday.db' })
 */
export async function backupSqlite({ from, to }: CopyOptions): Promise<void> {
  await assertFile(from, true)
  await copyDatabase(runInThread(from), to)
}

/**
 * Puts a backup in the place of a SQLite file. The file that was there is kept, as `threads.db.replaced`. Throws STORE_ERROR,
 * with nothing changed, if the backup is damaged or of a later Millrace, if a process has the file open, and if there is a
 * `.replaced` already.
 *
 * @example
 * await restoreSqlite({ from: './backups/monday.db', to: './data/threads.db' })
 */
export async function restoreSqlite({ from, to }: CopyOptions): Promise<void> {
  const [target, replaced] = [resolve(to), `${resolve(to)}.replaced`]
  await assertFile(from, true)
  await assertIntact(from)
  if (await isFile(target)) {
    await assertFile(replaced, false)
    await assertUnused(target)
  }
  const copy = `${target}.${randomUUID()}.restored`
  await copyDatabase(runInThread(from), copy)
  // The log too, or SQLite would take it for the log of the backup.
  for (const end of ['', '-wal', '-shm'])
    if (await isFile(target + end)) await rename(target + end, replaced + end)
  await rename(copy, target)
}

/** Copies a database to a new file. Throws STORE_ERROR, and leaves no file behind. */
export async function copyDatabase(run: RunStatements, to: string): Promise<void> {
  const target = resolve(to)
  await assertFile(target, false)
  const part = `${target}.${randomUUID()}.part`
  try {
    await createFile(part)
    await run(`VACUUM INTO '${part.replaceAll("'", "''")}'`)
    await assertIntact(part)
    await syncFile(part)
    await rename(part, target)
  } catch (error) {
    await rm(part, { force: true })
    throw toStoreError(error)
  }
}

async function assertIntact(file: string): Promise<void> {
  const rows = await runInThread(file)('PRAGMA user_version', 'PRAGMA integrity_check(1)')
  const version = Number(rows.find((row) => 'user_version' in row)?.user_version)
  const found = rows.find((row) => 'integrity_check' in row)?.integrity_check
  if (version === 0) throw new MillraceError('STORE_ERROR', `${file} has no threads of Millrace in it.`)
  assertKnownVersion(version)
  if (found !== 'ok') throw damagedFile(String(found))
}

/** The process keeps its own view of a file that is moved, and would go on writing to it. */
async function assertUnused(file: string): Promise<void> {
  try {
    await runInThread(file)(
      ...['PRAGMA busy_timeout = 0', 'PRAGMA locking_mode = EXCLUSIVE', 'BEGIN EXCLUSIVE', 'ROLLBACK'],
    )
  } catch (error) {
    // A damaged file is what is restored most often.
    if (isDamaged(error)) return
    if (!isBusy(error)) throw error
    throw new MillraceError('STORE_ERROR', `A process has ${file} open. Stop it first.`, { cause: error })
  }
}

async function assertFile(file: string, isWanted: boolean): Promise<void> {
  if ((await isFile(file)) === isWanted) return
  const message = isWanted ? `There is no file ${file}.` : `There is a file ${file} already. Move it first.`
  throw new MillraceError('STORE_ERROR', message)
}

async function isFile(file: string): Promise<boolean> {
  try {
    await stat(file)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw toStoreError(error)
  }
}

/** Leaves nothing to the cache of the system: the machine may stop right after. */
async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
