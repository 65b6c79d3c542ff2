import Database from 'libsql'
import {
  copyFileSync,
  promises,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { change, hold, key, messages, sqliteRig, storeError } from '../../../test/support/sqlite-rig.js'
import { createSqliteStore, type SqliteStore } from './store.js'

describe('a check of a SQLite store', () => {
  const rig = sqliteRig()
  const { open, meddle } = rig
  afterEach(() => void vi.restoreAllMocks())

  /** A store with a long thread, all of it in the file and not in its log. */
  const filled = async (): Promise<SqliteStore> => {
    const store = await open()
    await store.threads.commit(await hold(store), change({ append: messages(2_000) }))
    meddle((database) => database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all())
    return store
  }

  test('finds out that its file is damaged', async () => {
    const store = await open()
    await store.threads.commit(await hold(store), change())
    meddle((database) => database.exec('DROP TABLE messages'))
    await expect(store.threads.load(key)).rejects.toEqual(storeError)
  })

  test('finds out in a check that it cannot write', async () => {
    const store = await open()
    meddle((database) =>
      database.exec(
        "CREATE TRIGGER full BEFORE INSERT ON meta BEGIN SELECT raise(ABORT, 'disk is full'); END",
      ),
    )
    await expect(store.check()).rejects.toThrow('disk is full')
    await expect(store.check()).rejects.toEqual(storeError)
  })

  test('finds out in a check that it may only read', async () => {
    const database = new Database(rig.path)
    const store = await createSqliteStore({ database, clock: rig.clock })
    await store.check()
    database.exec('PRAGMA query_only = ON')
    await expect(store.check()).rejects.toEqual(storeError)
    database.exec('PRAGMA query_only = OFF')
    await store.check()
    database.close()
  })

  test.each(['', '-wal'])('finds out in a check that threads.db%s was deleted', async (end) => {
    const store = await open()
    await store.check()
    rmSync(rig.path + end)
    await expect(store.check()).rejects.toThrow('was deleted or replaced')
    await expect(store.check()).rejects.toEqual(storeError)
  })

  test('finds out in a check that another file has taken its place', async () => {
    const store = await open()
    copyFileSync(rig.path, `${rig.path}.copy`)
    renameSync(`${rig.path}.copy`, rig.path)
    await expect(store.check()).rejects.toThrow('was deleted or replaced')
  })

  test('finds out in a check that there is no room on the disk', async () => {
    const store = await open()
    const real = await promises.statfs(rig.folder)
    const spy = vi
      .spyOn(promises, 'statfs')
      .mockResolvedValue(Object.assign(Object.create(real) as typeof real, { bavail: 3 }))
    await expect(store.check()).rejects.toThrow('The disk of the SQLite file is full')
    spy.mockResolvedValue(real)
    await store.check()
  })

  test('finds out in a check that pages are bad, though it has read them before', async () => {
    const store = await filled()
    await store.check()
    spoilPages(rig.path, (page) => page > 0)
    await expect(store.check()).rejects.toThrow('restore a backup')
    await expect(store.check()).rejects.toEqual(storeError)
  })

  test('is not well once a read has met a bad page', async () => {
    const store = await filled()
    // Not the pages that a check reads.
    spoilPages(rig.path, (page, count) => page > count / 2)
    await expect(store.threads.load(key)).rejects.toThrow('restore a backup')
    await expect(store.check()).rejects.toThrow('restore a backup')
  })

  test('refuses a file with bad pages, and says what to do', async () => {
    await (await filled()).close()
    spoilPages(rig.path, (page, count) => page > count / 2)
    await expect(open()).rejects.toThrow('restore a backup')
    await expect(open()).rejects.toEqual(storeError)
  })

  test('is readable by nobody else, nor are the files beside it', async () => {
    const store = await open(join(rig.folder, 'a', 'threads.db'))
    await store.check()
    const files = readdirSync(join(rig.folder, 'a'))
    expect(files.sort()).toEqual(['threads.db', 'threads.db-shm', 'threads.db-wal'])
    for (const file of files) expect(statSync(join(rig.folder, 'a', file)).mode & 0o777).toBe(0o600)
  })
})

/** Overwrites pages of a database, counted from 0. */
function spoilPages(path: string, isSpoilt: (page: number, count: number) => boolean): void {
  const bytes = readFileSync(path)
  const pageSize = 4096
  const count = bytes.length / pageSize
  for (let page = 0; page < count; page++)
    if (isSpoilt(page, count)) bytes.fill(0x5a, page * pageSize, (page + 1) * pageSize)
  writeFileSync(path, bytes)
}
