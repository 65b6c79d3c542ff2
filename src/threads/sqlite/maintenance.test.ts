import Database from 'libsql'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { change, hold, key, messages, run, sqliteRig } from '../../../test/support/sqlite-rig.js'
import type { Lease, Store } from '../contract.js'
import { createSqliteStore } from './store.js'

describe('a SQLite store that is compacted', () => {
  const rig = sqliteRig()
  const { open } = rig

  const secret = 'the-password-is-hunter2'
  const filesWithSecret = (): string[] =>
    readdirSync(rig.folder).filter((file) => readFileSync(join(rig.folder, file)).includes(secret))

  /** Threads with the secret in all that a thread has, between others. Returns the lease of one of them. */
  const plantSecret = async (store: Store): Promise<Lease> => {
    for (let n = 0; n < 40; n++) {
      const lease = await hold(store, { ...key, thread: `before ${n}` })
      const text = `${n} `.repeat(n * 40)
      await store.threads.commit(lease, change({ append: [{ id: 'm', role: 'user', content: text }] }))
    }
    const lease = await hold(store)
    const long = secret.repeat(1_000)
    await store.threads.begin(lease, run)
    await store.log.append(lease, { runId: 'run', firstSeq: 0, lines: [`{"a":"${long}"}`] })
    for (let version = 0; version < 20; version++)
      await store.threads.commit(
        lease,
        change({
          ...{ version, keep: version, title: secret, state: { long }, checkpoint: secret },
          append: [{ id: `m${version}`, role: 'user', content: version % 2 ? secret : long }],
          interrupts: [{ id: 'i', reason: secret }],
          pendingToolCalls: [{ id: 'c', name: secret }],
        }),
      )
    return lease
  }

  test('has nothing of a removed thread in any of its files', async () => {
    const store = await open()
    const lease = await plantSecret(store)
    expect(filesWithSecret()).not.toEqual([])
    await store.threads.remove(lease)
    await store.compact()
    expect(filesWithSecret()).toEqual([])
    expect((await store.threads.list(key, { limit: 100 })).threads).toHaveLength(40)
    await store.check()
  })

  test('has overwritten what was deleted before it is compacted', async () => {
    const store = await open()
    await store.threads.remove(await plantSecret(store))
    rig.meddle((database) => database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all())
    expect(filesWithSecret()).toEqual([])
  })

  test('has it no more either on a database of the caller, or in memory', async () => {
    const database = new Database(rig.path)
    const store = await createSqliteStore({ database, clock: rig.clock })
    await store.threads.remove(await plantSecret(store))
    await store.compact()
    expect(filesWithSecret()).toEqual([])
    database.close()
    await (await open(':memory:')).compact()
  })

  test('is smaller, and reads and writes meanwhile lose nothing', async () => {
    const store = await createSqliteStore({ path: rig.path })
    const lease = await hold(store)
    await store.threads.commit(lease, change({ append: messages(20_000) }))
    await store.threads.remove(lease)
    const before = statSync(rig.path).size + statSync(`${rig.path}-wal`).size
    const compacting = store.compact()
    const reading = store.threads.load(key)
    const writing = store.threads.commit(lease, change({ title: 'Written meanwhile' }))
    expect(await reading).toBeUndefined()
    expect(await writing).toBeGreaterThan(0)
    await compacting
    expect(statSync(rig.path).size + statSync(`${rig.path}-wal`).size).toBeLessThan(before / 5)
    expect(await store.threads.load(key)).toMatchObject({ title: 'Written meanwhile' })
    await store.close()
  })

  test('says so when another process reads the log, and can be compacted again', async () => {
    const database = new Database(rig.path)
    const store = await createSqliteStore({ database, clock: rig.clock })
    await store.threads.remove(await plantSecret(store))
    const reader = new Database(rig.path)
    reader.exec('BEGIN')
    reader.prepare('SELECT 1 FROM threads').all()
    await expect(store.compact()).rejects.toThrow('Compact it again')
    reader.exec('COMMIT')
    await store.compact()
    expect(filesWithSecret()).toEqual([])
    reader.close()
    database.close()
  })

  test('is closed when it is done', async () => {
    const store = await open()
    let isDone = false
    const compacting = store.compact().then(() => (isDone = true))
    await store.close()
    expect(isDone).toBe(true)
    await compacting
  })
})
