import { describe, expect, test } from 'vitest'
import { changeOf, hold, inTime, keyOf, linesOf, logOf, messagesOf, runOf, stored, type Rig } from './rig.js'

const key = keyOf('thread')

/** For stores that outlive their process: several processes on the same data. */
export function describeSharing(rig: Rig): void {
  describe('two who share a store', () => {
    test('see what the other has written', async () => {
      if (rig.underTest.openAnother === undefined) throw new Error('this store is one process’s own')
      const other = await rig.underTest.openAnother()
      expect(await other.threads.load(key)).toBeUndefined()
      const thread = await rig.save(key, { append: messagesOf('a'), title: 'One' })
      expect(await stored(other, key)).toEqual(thread)
      const lease = await hold(other, key)
      await other.threads.begin(lease, runOf('r1'))
      await other.log.append(lease, { runId: 'r1', firstSeq: 0, lines: linesOf('a', 2) })
      await other.threads.commit(lease, changeOf({ version: 1, title: 'Two' }))
      expect(await rig.stored(key)).toMatchObject({ version: 2, title: 'Two', run: { runId: 'r1' } })
      expect(await rig.logOf(key, 'r1')).toEqual(await logOf(other, key, 'r1'))
    })

    test('cannot hold the same thread, and the later holder shuts the earlier out', async () => {
      if (rig.underTest.openAnother === undefined) throw new Error('this store is one process’s own')
      const other = await rig.underTest.openAnother()
      const first = await rig.store.leases.acquire(key, { owner: 'a', ttlMs: 1_000 })
      if (first === undefined) throw new Error('Nobody else can hold the thread.')
      expect(await other.leases.acquire(key, { owner: 'b', ttlMs: 1_000 })).toBeUndefined()
      expect(await other.leases.isHeld(key)).toBe(true)
      await rig.clock.advance(1_000)
      const second = await hold(other, key, 'b')
      expect(second.token).toBeGreaterThan(first.token)
      const late = rig.store.threads.commit(first, changeOf())
      await expect(late).rejects.toMatchObject({ code: 'LEASE_LOST' })
      expect(await rig.store.leases.renew(first, 1_000)).toBe(false)
      expect(await other.threads.commit(second, changeOf())).toBe(1)
    })

    test('are told of runs that the other begins, and of what it commits', async () => {
      if (rig.underTest.openAnother === undefined) throw new Error('this store is one process’s own')
      const other = await rig.underTest.openAnother()
      const { signal } = new AbortController()
      const lease = await rig.hold(key)
      const begun = other.threads.changed(key, { version: 0, isRunning: false }, signal)
      await rig.store.threads.begin(lease, runOf('r1'))
      await inTime(rig.clock, begun)
      const committed = other.threads.changed(key, { version: 0, isRunning: true }, signal)
      await rig.store.threads.commit(lease, changeOf({ run: runOf('r1', { status: 'completed' }) }))
      await inTime(rig.clock, committed)
    })

    test('are told of events that the other appends', async () => {
      if (rig.underTest.openAnother === undefined) throw new Error('this store is one process’s own')
      const other = await rig.underTest.openAnother()
      const lease = await rig.hold(key)
      await rig.store.threads.begin(lease, runOf('r1'))
      const waiting = other.log.changed(key, { runId: 'r1', after: -1 }, new AbortController().signal)
      await rig.store.log.append(lease, { runId: 'r1', firstSeq: 0, lines: linesOf('a', 1) })
      await inTime(rig.clock, waiting)
      expect(await logOf(other, key, 'r1')).toHaveLength(1)
    })

    test('can both write at the same time, to threads of their own', async () => {
      if (rig.underTest.openAnother === undefined) throw new Error('this store is one process’s own')
      const other = await rig.underTest.openAnother()
      const commits = Array.from({ length: 60 }, async (_, index) => {
        const store = index % 2 === 0 ? rig.store : other
        const each = keyOf(`thread-${index}`)
        return store.threads.commit(await hold(store, each), changeOf({ title: each.thread }))
      })
      expect(await Promise.all(commits)).toEqual(commits.map(() => 1))
      const { threads } = await rig.store.threads.list(key, { limit: 100 })
      expect(threads).toHaveLength(60)
    })
  })
}
