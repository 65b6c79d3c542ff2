import Database from 'libsql'
import { describe, expect, test } from 'vitest'
import { change, hold, key, run, sqliteRig } from '../../../test/support/sqlite-rig.js'
import { createSqliteStore, type SqliteDatabase } from './store.js'

describe('a SQLite store whose file another process holds', () => {
  const rig = sqliteRig()
  const { open } = rig

  /** Takes the file for itself until it is released. */
  const holdFile = (begin = 'BEGIN IMMEDIATE'): (() => void) => {
    const database = new Database(rig.path)
    database.exec(begin)
    return () => {
      database.exec('ROLLBACK')
      database.close()
    }
  }

  test('reads, and writes later what it was given, in order', async () => {
    const store = await open()
    const lease = await hold(store)
    await store.threads.commit(lease, change({ title: 'One' }))
    const letGo = holdFile()
    const writes = [
      store.threads.begin(lease, run),
      store.log.append(lease, { runId: 'run', firstSeq: 0, lines: ['{}'] }),
      store.log.append(lease, { runId: 'run', firstSeq: 1, lines: ['{}'] }),
      store.threads.commit(lease, change({ version: 1, title: 'Two' }), { release: true }),
    ]
    await rig.clock.advance(500)
    expect(await store.threads.load(key)).toMatchObject({ version: 1, title: 'One' })
    expect(await store.leases.isHeld(key)).toBe(true)
    expect((await store.threads.list(key, { limit: 10 })).threads).toHaveLength(1)
    letGo()
    await rig.clock.advance(50)
    await Promise.all(writes)
    expect(await store.threads.load(key)).toMatchObject({ version: 2, title: 'Two', run: { runId: 'run' } })
    expect(await store.log.read(key, { runId: 'run', after: -1 }, 10)).toHaveLength(2)
    expect(await store.leases.isHeld(key)).toBe(false)
  })

  test('says so after ten seconds, and has written nothing', async () => {
    const store = await open()
    const letGo = holdFile()
    const refused = expect(store.leases.acquire(key, { owner: 'p', ttlMs: 1_000 })).rejects.toMatchObject({
      code: 'STORE_ERROR',
      expose: true,
      message: expect.stringContaining('Another process') as string,
    })
    await rig.clock.advance(10_050)
    await refused
    letGo()
    expect(await store.leases.isHeld(key)).toBe(false)
    expect(await store.leases.acquire(key, { owner: 'p', ttlMs: 1_000 })).toBeDefined()
  })

  test('is opened when it is let go', async () => {
    const letGo = holdFile()
    const opening = open()
    await rig.clock.advance(1_000)
    letGo()
    await rig.clock.advance(50)
    await (await opening).check()
  })

  test('sees what others write, and can write, though it was opened while another process made the file', async () => {
    const letGo = holdFile('BEGIN EXCLUSIVE')
    const opening = open()
    await rig.clock.advance(1_000)
    letGo()
    const other = await open()
    await rig.clock.advance(50)
    const store = await opening
    const lease = await hold(other)
    await other.threads.commit(lease, change({ title: 'One' }), { release: true })
    expect(await store.threads.load(key)).toMatchObject({ title: 'One' })
    await store.threads.commit(await hold(store), change({ version: 1, title: 'Two' }), { release: true })
    expect(await other.threads.load(key)).toMatchObject({ title: 'Two' })
  })

  test('waits when it cannot even read, and so do those who wait for events', async () => {
    const file = { isHeld: false }
    const database = new Database(rig.path)
    const store = await createSqliteStore({ database: holdable(database, file), clock: rig.clock })
    const lease = await hold(store)
    await store.log.append(lease, { runId: 'run', firstSeq: 0, lines: ['{}'] })
    const { signal } = new AbortController()
    const waiting = store.log.changed(key, { runId: 'run', after: 0 }, signal)
    file.isHeld = true
    const reading = store.log.read(key, { runId: 'run', after: -1 }, 10)
    const later = store.log.changed(key, { runId: 'run', after: -1 }, signal)
    await rig.clock.advance(500)
    file.isHeld = false
    await rig.clock.advance(50)
    expect(await reading).toHaveLength(1)
    await later
    await store.log.append(lease, { runId: 'run', firstSeq: 1, lines: ['{}'] })
    await waiting
    await store.close()
    database.close()
  })
})

/** A database that cannot be read for as long as its file is held: rare beside a write-ahead log. */
function holdable(database: Database.Database, file: { readonly isHeld: boolean }): SqliteDatabase {
  const guard = <T>(work: () => T): T => {
    // As node:sqlite says it; the others have a name in `code`.
    if (file.isHeld) throw Object.assign(new Error('database is locked'), { errcode: 261 })
    return work()
  }
  return {
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql)
      return {
        run: (...params) => guard(() => statement.run(...params)),
        get: (...params) => guard(() => statement.get(...params)),
        all: (...params) => guard(() => statement.all(...params)),
      }
    },
  }
}
