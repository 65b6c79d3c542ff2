import Database from 'libsql'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { change, hold, key, messages, run, sqliteRig, storeError } from '../../../test/support/sqlite-rig.js'
import type { Lease, Store } from '../contract.js'
import { backupSqlite, createSqliteStore, restoreSqlite } from './store.js'

const rig = sqliteRig()
const { open } = rig
const at = (name: string): string => join(rig.folder, name)
const text = (n: number): string => `${n} `.repeat(500)

/** Adds a message to the thread. */
async function addMessage(store: Store, lease: Lease, version: number): Promise<void> {
  const append = [{ id: `m${version}`, role: 'user' as const, content: text(version) }]
  await store.threads.commit(lease, change({ version, keep: version, append, state: { count: version + 1 } }))
}

describe('a backup', () => {
  test('made while the store writes has the threads of one moment, and can be used', async () => {
    const store = await createSqliteStore({ path: rig.path })
    const lease = await hold(store)
    for (let version = 0; version < 300; version++) await addMessage(store, lease, version)
    const done = new AbortController()
    const backing = store.backup(at('backup.db')).finally(() => done.abort())
    let version = 300
    // The writer is at work for as long as the backup is.
    while (!done.signal.aborted) {
      await addMessage(store, lease, version++)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await backing
    expect(version).toBeGreaterThan(310)
    const written = await store.threads.load(key)
    await store.close()

    await restoreSqlite({ from: at('backup.db'), to: at('restored.db') })
    const restored = await (await open(at('restored.db'))).threads.load(key)
    const count = restored?.version ?? 0
    expect(count).toBeGreaterThanOrEqual(300)
    expect(restored).toEqual({
      ...written,
      version: count,
      updatedAt: restored?.updatedAt,
      messages: written?.messages.slice(0, count),
      state: { count },
    })
    const database = new Database(at('restored.db'))
    expect(database.prepare('PRAGMA integrity_check').get()).toMatchObject({ integrity_check: 'ok' })
    database.close()
  })

  test('has all that a store has, and is readable by nobody else', async () => {
    const store = await open()
    const lease = await hold(store)
    await store.threads.begin(lease, run)
    await store.log.append(lease, { runId: 'run', firstSeq: 0, lines: ['{"a":1}'] })
    await store.threads.commit(lease, change({ append: messages(3), title: 'Kept', checkpoint: { a: 1 } }))
    await backupSqlite({ from: rig.path, to: at("it's a backup.db") })
    expect(statSync(at("it's a backup.db")).mode & 0o777).toBe(0o600)
    const copy = await open(at("it's a backup.db"))
    expect(await copy.threads.load(key)).toEqual(await store.threads.load(key))
    expect(await copy.log.read(key, { runId: 'run', after: -1 }, 10)).toEqual([{ seq: 0, json: '{"a":1}' }])
    expect(await copy.threads.unfinished()).toEqual([key])
  })

  test('can be made of a database of the caller', async () => {
    const database = new Database(rig.path)
    const store = await createSqliteStore({ database, clock: rig.clock })
    await store.threads.commit(await hold(store), change({ title: 'Kept' }))
    await store.backup(at('backup.db'))
    expect(await (await open(at('backup.db'))).threads.load(key)).toMatchObject({ title: 'Kept' })
    database.close()
  })

  test('takes the place of no file, and leaves none behind when it fails', async () => {
    const store = await open()
    writeFileSync(at('letter'), 'Dear reader')
    const before = readdirSync(rig.folder)
    for (const to of [at('letter'), rig.path, join(at('letter'), 'inside')]) {
      await expect(store.backup(to)).rejects.toEqual(storeError)
      await expect(backupSqlite({ from: rig.path, to })).rejects.toEqual(storeError)
    }
    await expect(backupSqlite({ from: at('nothing.db'), to: at('backup.db') })).rejects.toThrow('no file')
    expect(readdirSync(rig.folder)).toEqual(before)
    expect(readFileSync(at('letter'), 'utf8')).toBe('Dear reader')
  })
})

describe('a restore', () => {
  /** Makes a file with a thread of this title. The store has another: some drivers keep what they close open for a while. */
  async function fileWith(path: string, title: string): Promise<void> {
    const store = await open(`${path}.made`)
    await store.threads.commit(await hold(store), change({ title, append: messages(1_000) }))
    await store.backup(path)
    await store.close()
    for (const end of ['', '-wal', '-shm']) rmSync(`${path}.made${end}`, { force: true })
  }
  beforeEach(async () => {
    await fileWith(rig.path, 'New')
    await fileWith(at('backup.db'), 'Old')
  })
  const restore = (from = at('backup.db')): Promise<void> => restoreSqlite({ from, to: rig.path })
  const titleIn = async (path = rig.path): Promise<unknown> => {
    const store = await open(path)
    const thread = await store.threads.load(key)
    await store.close()
    return thread?.title
  }

  test('replaces a file and keeps it', async () => {
    await restore()
    expect(await titleIn()).toBe('Old')
    expect(await titleIn(`${rig.path}.replaced`)).toBe('New')
  })

  test('keeps what is in the log of the file that it replaces, apart from the backup', async () => {
    const store = await open(at('killed.db'))
    await store.threads.commit(await hold(store), change({ title: 'In the log' }))
    // As a process leaves them that was killed.
    for (const end of ['', '-wal']) copyFileSync(at('killed.db') + end, rig.path + end)
    await restore()
    expect(await titleIn()).toBe('Old')
    expect(await titleIn(`${rig.path}.replaced`)).toBe('In the log')
  })

  test('makes a file where there is none', async () => {
    rmSync(rig.path)
    await restore()
    expect(await titleIn()).toBe('Old')
    expect(existsSync(`${rig.path}.replaced`)).toBe(false)
  })

  test('does not take a log that was left for the log of the backup', async () => {
    const store = await open(at('killed.db'))
    await store.threads.commit(await hold(store), change({ title: 'In the log' }))
    copyFileSync(at('killed.db-wal'), `${rig.path}-wal`)
    rmSync(rig.path)
    await restore()
    expect(await titleIn()).toBe('Old')
  })

  test('takes the place of a damaged file', async () => {
    writeFileSync(rig.path, readFileSync(rig.path).fill(0x5a, 4096))
    await restore()
    expect(await titleIn()).toBe('Old')
    await expect(open(`${rig.path}.replaced`)).rejects.toThrow('restore a backup')
  })

  test('refuses a file that a process has open, and leaves it alone', async () => {
    const store = await open()
    await expect(restore()).rejects.toThrow('Stop it first')
    await store.check()
    expect(await store.threads.load(key)).toMatchObject({ title: 'New' })
  })

  test('refuses to lose the file that an earlier one has kept', async () => {
    await restore()
    await expect(restore()).rejects.toThrow('.replaced already. Move it first.')
  })

  test.each([
    [
      'damaged',
      () => writeFileSync(at('backup.db'), readFileSync(at('backup.db')).fill(0x5a, 20_000, 40_000)),
    ],
    ['no database', () => writeFileSync(at('backup.db'), 'Dear reader. '.repeat(1_000))],
    ['of another program', () => newDatabase('CREATE TABLE letters (text)')],
    ['of a later version', () => newDatabase('PRAGMA user_version = 99; CREATE TABLE letters (text)')],
    ['missing', () => rmSync(at('backup.db'))],
  ])('refuses a backup that is %s, and changes nothing', async (_, spoil) => {
    spoil()
    const before = readdirSync(rig.folder)
    await expect(restore()).rejects.toEqual(storeError)
    expect(readdirSync(rig.folder)).toEqual(before)
    expect(await titleIn()).toBe('New')
  })

  function newDatabase(sql: string): void {
    rmSync(at('backup.db'))
    const database = new Database(at('backup.db'))
    database.exec(sql)
    database.close()
  }
})
