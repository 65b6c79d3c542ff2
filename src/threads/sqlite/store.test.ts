import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import Database from 'libsql'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { change, hold, key, messages, run, sqliteRig, storeError } from '../../../test/support/sqlite-rig.js'
import { describeStoreContract } from '../../../test/support/store-contract.js'
import { createSqliteStore, type SqliteStore } from './store.js'

describeStoreContract(
  'the SQLite store',
  async (clock) => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-sqlite-'))
    const path = join(folder, 'threads.db')
    const opened: SqliteStore[] = []
    const open = async (): Promise<SqliteStore> => {
      const store = await createSqliteStore({ path, clock })
      opened.push(store)
      return store
    }
    const store = await open()
    return {
      store,
      async reopen() {
        await store.close()
        return open()
      },
      openAnother: open,
      async bytes() {
        await store.compact()
        return statSync(path).size
      },
      messageRows: () => Promise.resolve(countMessageRows(path)),
      async cleanUp() {
        await Promise.all(opened.map((each) => each.close()))
        await rm(folder, { recursive: true })
      },
    }
  },
  { outlivesProcess: true },
)

function countMessageRows(path: string): number {
  const database = new Database(path)
  const tables = ['messages', 'segments', 'inherited']
  const counts = tables.map(
    (table) => database.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number },
  )
  database.close()
  return counts.reduce((sum, { n }) => sum + n, 0)
}

describe('a SQLite store', () => {
  const rig = sqliteRig()
  const { open, meddle } = rig
  afterEach(() => {
    vi.restoreAllMocks()
    vi.doUnmock('libsql')
  })

  describe('on a file', () => {
    test('makes the folder that is missing', async () => {
      const file = join(rig.folder, 'a', 'b', 'threads.db')
      await (await open(file)).check()
      expect(existsSync(file)).toBe(true)
    })

    test('keeps nothing in memory only when asked to', async () => {
      const store = await open(':memory:')
      expect(await store.threads.commit(await hold(store), change())).toBe(1)
      expect(existsSync(':memory:')).toBe(false)
    })

    test('refuses tables of a later version, and leaves them alone', async () => {
      await (await open()).close()
      meddle((database) => database.exec('PRAGMA user_version = 7'))
      await expect(open()).rejects.toThrow('The database has tables of version 7')
      await expect(open()).rejects.toEqual(storeError)
      expect(meddle((database) => database.prepare('PRAGMA user_version').get())).toMatchObject({
        user_version: 7,
      })
    })

    test('takes over the tables of the first version', async () => {
      meddle((database) => database.exec(readFileSync('test/fixtures/threads-v1.sql', 'utf8')))
      const store = await open()
      const load = (thread: string) => store.threads.load({ ...key, thread })
      const ids = async (thread: string) => (await load(thread))?.messages.map(({ id }) => id).join('')
      expect(await load('chat~1')).toMatchObject({
        title: 'chat~1',
        forkedFrom: 'chat',
        state: { thread: 'chat~1' },
      })
      expect(await Promise.all(['chat', 'chat~1', 'empty'].map(ids))).toEqual(['abc', 'ab', ''])
      expect(await load('chat')).not.toHaveProperty('archived')
      await store.threads.label({ ...key, thread: 'chat' }, { title: 'Oslo', archived: true })
      expect(await load('chat')).toMatchObject({ title: 'Oslo', archived: true })
      const lease = await hold(store, { ...key, thread: 'chat' })
      const fork = await hold(store, { ...key, thread: 'chat~2' })
      await store.threads.commit(fork, change({ keep: 3, forkedFrom: 'chat', append: messages(1) }))
      await store.threads.commit(lease, change({ version: 1, keep: 1, append: messages(1) }))
      await store.threads.commit(
        await hold(store, { ...key, thread: 'empty' }),
        change({ version: 1, append: messages(1) }),
      )
      expect(await Promise.all(['chat', 'chat~1', 'chat~2', 'empty'].map(ids))).toEqual([
        'am0',
        'ab',
        'abcm0',
        'm0',
      ])
    })

    test('refuses what is no database', async () => {
      writeFileSync(rig.path, 'This is a letter. '.repeat(500))
      await expect(open()).rejects.toEqual(storeError)
      await expect(open(rig.folder)).rejects.toEqual(storeError)
      await expect(open(join(rig.path, 'inside'))).rejects.toEqual(storeError)
    })

    test('leaves everything in that one file when it is closed', async () => {
      const store = await open()
      await store.threads.commit(await hold(store), change({ title: 'Kept' }))
      await store.close()
      const copy = join(rig.folder, 'copy.db')
      copyFileSync(rig.path, copy)
      expect(await (await open(copy)).threads.load(key)).toMatchObject({ title: 'Kept' })
    })

    test('rejects everything after it was closed, which may happen twice', async () => {
      const store = await open()
      const lease = await hold(store)
      await store.close()
      await store.close()
      const { signal } = new AbortController()
      const position = { runId: 'run', after: -1 }
      const calls = [
        () => store.check(),
        () => store.threads.load(key),
        () => store.threads.begin(lease, run),
        () => store.threads.commit(lease, change()),
        () => store.threads.list(key, { limit: 1 }),
        () => store.threads.remove(lease),
        () => store.threads.idle(0, 1),
        () => store.threads.unfinished(),
        () => store.log.append(lease, { runId: 'run', firstSeq: 0, lines: ['{}'] }),
        () => store.log.read(key, position, 1),
        () => store.log.changed(key, position, signal),
        () => store.leases.acquire(key, { owner: 'a', ttlMs: 1 }),
        () => store.leases.renew(lease, 1),
        () => store.leases.release(lease),
        () => store.leases.isHeld(key),
      ]
      for (const call of calls) await expect(call()).rejects.toEqual(storeError)
    })

    test('says what to install when there is no driver', async () => {
      vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined)
      vi.doMock('libsql', () => {
        throw new Error('not found')
      })
      await expect(open()).rejects.toThrow('install the package "libsql"')
      await expect(open()).rejects.toEqual(storeError)
    })
  })

  describe('on a database of the caller', () => {
    test('works, and leaves the closing to the caller', async () => {
      const database = new Database(rig.path)
      const store = await createSqliteStore({ database, clock: rig.clock })
      await store.threads.commit(await hold(store), change({ title: 'Mine' }))
      expect(await store.threads.load(key)).toMatchObject({ title: 'Mine' })
      await store.close()
      await expect(store.threads.load(key)).rejects.toEqual(storeError)
      expect(database.prepare('SELECT title FROM threads').all()).toEqual([{ title: 'Mine' }])
      database.close()
    })

    test('rejects when that is closed underneath, also those who wait', async () => {
      const database = new Database(rig.path)
      const store = await createSqliteStore({ database, clock: rig.clock })
      const lease = await hold(store)
      const waiting = store.log.changed(key, { runId: 'run', after: -1 }, new AbortController().signal)
      const rejected = expect(waiting).rejects.toEqual(storeError)
      database.close()
      await expect(store.threads.load(key)).rejects.toEqual(storeError)
      await expect(store.threads.commit(lease, change())).rejects.toEqual(storeError)
      await rig.clock.advance(100)
      await rejected
      expect(rig.clock.pending).toBe(0)
      await store.close()
    })

    test('writes nothing while the caller is in a transaction', async () => {
      const database = new Database(rig.path)
      const store = await createSqliteStore({ database, clock: rig.clock })
      database.exec('BEGIN')
      await expect(store.check()).rejects.toEqual(storeError)
      database.close()
    })
  })

  describe('beside another on the same file', () => {
    test('lets exactly one of two take a thread', async () => {
      const both = [await open(), await open()]
      const wishes = both.map((store, index) =>
        store.leases.acquire(key, { owner: `p${index}`, ttlMs: 1_000 }),
      )
      expect((await Promise.all(wishes)).filter((lease) => lease !== undefined)).toHaveLength(1)
    })

    test('shuts out whoever was overtaken, whatever they write', async () => {
      const [first, second] = [await open(), await open()]
      const lost = await hold(first)
      await rig.clock.advance(1_000)
      await hold(second)
      const writes = [
        first.threads.begin(lost, run),
        first.threads.commit(lost, change()),
        first.threads.remove(lost),
        first.log.append(lost, { runId: 'run', firstSeq: 0, lines: ['{}'] }),
      ]
      for (const write of writes) await expect(write).rejects.toMatchObject({ code: 'LEASE_LOST' })
      expect(await second.threads.load(key)).toBeUndefined()
    })

    test('tells of the events of the other within 100 ms, and of those only', async () => {
      const [writer, reader] = [await open(), await open()]
      const lease = await hold(writer)
      let told = 0
      const { signal } = new AbortController()
      const waiting = reader.log.changed(key, { runId: 'run', after: 1 }, signal).then(() => told++)
      await writer.threads.begin(lease, run)
      await writer.log.append(lease, { runId: 'other', firstSeq: 0, lines: ['{}', '{}', '{}'] })
      await rig.clock.advance(1_000)
      expect([told, rig.clock.pending]).toEqual([0, 1])
      await writer.log.append(lease, { runId: 'run', firstSeq: 2, lines: ['{}'] })
      await rig.clock.advance(99)
      expect(told).toBe(0)
      await rig.clock.advance(1)
      expect([told, rig.clock.pending]).toEqual([1, 0])
      await waiting
    })

    test('tells that the other has removed the events', async () => {
      const [writer, reader] = [await open(), await open()]
      const lease = await hold(writer)
      await writer.log.append(lease, { runId: 'run', firstSeq: 0, lines: ['{}'] })
      const waiting = reader.log.changed(key, { runId: 'run', after: 0 }, new AbortController().signal)
      await writer.threads.remove(lease)
      await rig.clock.advance(100)
      await waiting
    })

    test('leaves no timer behind when a wait ends', async () => {
      const store = await open()
      const lease = await hold(store)
      const stop = new AbortController()
      const position = { runId: 'run', after: -1 }
      const waiting = [
        store.log.changed(key, position, stop.signal),
        store.log.changed(key, position, new AbortController().signal),
      ]
      expect(rig.clock.pending).toBe(1)
      stop.abort()
      expect(rig.clock.pending).toBe(1)
      await store.log.append(lease, { runId: 'run', firstSeq: 0, lines: ['{}'] })
      await Promise.all(waiting)
      expect(rig.clock.pending).toBe(0)
    })
  })

  describe('on which a process has died', () => {
    const diedAs = (columns: string): void => {
      const { pid } = spawnSync(process.execPath, ['-e', ''])
      meddle((database) => database.exec(`UPDATE leases SET ${columns.replace('?', String(pid))}`))
    }

    test('frees its leases at once', async () => {
      const store = await open()
      const lost = await hold(store)
      diedAs('pid = ?')
      expect(await store.leases.isHeld(key)).toBe(false)
      expect((await hold(store)).token).toBeGreaterThan(lost.token)
      await expect(store.threads.commit(lost, change())).rejects.toMatchObject({ code: 'LEASE_LOST' })
    })

    test('waits until they expire when it was on another host', async () => {
      const store = await open()
      await hold(store)
      diedAs("pid = ?, host = 'elsewhere'")
      expect(await store.leases.isHeld(key)).toBe(true)
      await rig.clock.advance(1_000)
      expect(await store.leases.isHeld(key)).toBe(false)
    })

    test('waits until they expire when this process has got its number', async () => {
      const store = await open()
      await hold(store)
      await store.close()
      const again = await open()
      expect(await again.leases.acquire(key, { owner: 'p', ttlMs: 1_000 })).toBeUndefined()
      await rig.clock.advance(1_000)
      expect(await again.leases.acquire(key, { owner: 'p', ttlMs: 1_000 })).toBeDefined()
    })
  })

  test.each(['a\u0000b', '\ud800', '"quoted"', '"\u0000'])(
    'keeps the odd text %j everywhere',
    async (odd) => {
      const store = await open()
      const oddKey = { app: odd, user: odd, agent: odd, thread: odd }
      const lease = await hold(store, oddKey, odd)
      const record = { ...run, runId: odd, error: { code: odd, message: odd } }
      await store.log.append(lease, { runId: odd, firstSeq: 0, lines: ['{}'] })
      await store.threads.commit(lease, change({ title: odd, forkedFrom: odd, run: record }))
      const { threads } = await store.threads.list(oddKey, { limit: 10 })
      expect(threads).toMatchObject([{ key: oddKey, title: odd, forkedFrom: odd, run: record }])
      expect(await store.log.read(oddKey, { runId: odd, after: -1 }, 10)).toHaveLength(1)
      expect(await store.leases.renew(lease, 1)).toBe(true)
    },
  )

  test('does not mistake an event that came first for a thread', async () => {
    const store = await open()
    const lease = await hold(store)
    await store.log.append(lease, { runId: 'run', firstSeq: 0, lines: ['{}'] })
    expect(await store.threads.load(key)).toBeUndefined()
    expect(await store.threads.commit(lease, change())).toBe(1)
  })

  test('reads events that came one by one', async () => {
    const store = await open()
    const lease = await hold(store)
    const texts = Array.from({ length: 100 }, (_, index) => `{"n":${index}}`)
    for (const [firstSeq, line] of texts.entries())
      await store.log.append(lease, { runId: 'run', firstSeq, lines: [line] })
    const entries = texts.map((json, seq) => ({ seq, json }))
    for (const [after, limit] of [
      [-1, 1_000],
      [-1, 100],
      [-1, 99],
      [40, 20],
      [62, 1],
    ] as const)
      expect(await store.log.read(key, { runId: 'run', after }, limit)).toEqual(
        entries.slice(after + 1, after + 1 + limit),
      )
  })

  test('writes as many rows for a commit to a long thread as to a short one', async () => {
    const database = new Database(rig.path)
    const store = await createSqliteStore({ database, clock: rig.clock })
    const rowsWritten = async (length: number): Promise<number> => {
      const long = { ...key, thread: `thread of ${length}` }
      const lease = await hold(store, long)
      await store.threads.commit(lease, change({ append: messages(length) }))
      const count = (): number =>
        (database.prepare('SELECT total_changes() AS count').get() as { count: number }).count
      const before = count()
      await store.threads.commit(lease, change({ version: 1, keep: length, append: messages(2) }))
      return count() - before
    }
    const short = await rowsWritten(10)
    expect(await rowsWritten(2_000)).toBe(short)
    expect(short).toBeLessThan(5)
    await store.close()
    database.close()
  })
})
