import { describe, expect, test } from 'vitest'
import { changeOf, hold, keyOf, linesOf, logOf, messagesOf, runOf, stored, type Rig } from './rig.js'

const key = keyOf('thread é/👋')

/** For stores that outlive their process: data after it has ended. */
export function describePersistence(rig: Rig): void {
  describe('a store that is opened again', () => {
    test('has the threads as they were', async () => {
      if (rig.underTest.reopen === undefined) throw new Error('nothing outlives this store')
      await rig.save(key, {
        append: messagesOf('a', 'b'),
        state: { a: [null, '👋'] },
        interrupts: [{ id: 'i', reason: 'question' }],
        pendingToolCalls: [{ id: 'c', name: 'pick' }],
        checkpoint: null,
        title: 'Title',
        forkedFrom: 'older',
        run: runOf('r1', { status: 'interrupted', nextSeq: 2 }),
      })
      await rig.store.threads.label(key, { title: 'Oslo', archived: true })
      const thread = await rig.stored(key)
      const list = await rig.store.threads.list(key, { limit: 10 })
      const store = await rig.underTest.reopen()
      await store.check()
      expect(await stored(store, key)).toEqual(thread)
      expect(await store.threads.list(key, { limit: 10 })).toEqual(list)
      expect(await store.threads.idle(thread.updatedAt + 1, 10)).toEqual(list.threads)
      const lease = await hold(store, key)
      await store.threads.commit(lease, changeOf({ version: 1, keep: 2, append: messagesOf('c') }))
      expect((await stored(store, key)).messages).toEqual(messagesOf('a', 'b', 'c'))
    })

    test('has the log of a run that was at work, and knows that it has not ended', async () => {
      if (rig.underTest.reopen === undefined) throw new Error('nothing outlives this store')
      const run = runOf('r1', { start: { ...changeOf(), clientTools: ['pick'] } })
      const lease = await rig.hold(key)
      await rig.store.threads.begin(lease, run)
      await rig.store.log.append(lease, { runId: 'r1', firstSeq: 0, lines: linesOf('a', 3) })
      const before = await rig.stored(key)
      const store = await rig.underTest.reopen()
      expect(await stored(store, key)).toEqual(before)
      expect(await store.threads.unfinished()).toEqual([key])
      expect(await logOf(store, key, 'r1')).toEqual(linesOf('a', 3).map((json, seq) => ({ seq, json })))
      // The process may come back before its lease expires.
      await store.log.append(lease, { runId: 'r1', firstSeq: 3, lines: linesOf('b', 1) })
      await store.log.changed(key, { runId: 'r1', after: 2 }, new AbortController().signal)
      expect(await logOf(store, key, 'r1')).toHaveLength(4)
    })

    test('goes on with the pages of a list', async () => {
      if (rig.underTest.reopen === undefined) throw new Error('nothing outlives this store')
      for (const thread of ['a', 'b', 'c']) {
        await rig.clock.advance(1)
        await rig.save(keyOf(thread))
      }
      const { cursor = '' } = await rig.store.threads.list(key, { limit: 1 })
      const store = await rig.underTest.reopen()
      const { threads } = await store.threads.list(key, { limit: 10, cursor })
      expect(threads.map((thread) => thread.key.thread)).toEqual(['b', 'a'])
    })

    test('knows who holds a thread, and for how long', async () => {
      if (rig.underTest.reopen === undefined) throw new Error('nothing outlives this store')
      await rig.store.leases.acquire(key, { owner: 'a', ttlMs: 1_000 })
      const store = await rig.underTest.reopen()
      expect(await store.leases.isHeld(key)).toBe(true)
      expect(await store.leases.acquire(key, { owner: 'b', ttlMs: 1_000 })).toBeUndefined()
      await rig.clock.advance(1_000)
      expect(await store.leases.acquire(key, { owner: 'b', ttlMs: 1_000 })).toBeDefined()
    })

    test('gives higher tokens than before, also for threads that were released or removed', async () => {
      if (rig.underTest.reopen === undefined) throw new Error('nothing outlives this store')
      const keys = [key, keyOf('removed')]
      const old = await Promise.all(keys.map((each) => rig.hold(each)))
      for (const lease of old) {
        await rig.store.threads.commit(lease, changeOf())
        if (lease.key.thread === 'removed') await rig.store.threads.remove(lease)
        await rig.store.leases.release(lease)
      }
      const store = await rig.underTest.reopen()
      for (const lease of old) {
        expect((await hold(store, lease.key)).token).toBeGreaterThan(lease.token)
        await expect(store.threads.remove(lease)).rejects.toMatchObject({ code: 'LEASE_LOST' })
      }
    })

    test('gives a new thread no version of one that was removed', async () => {
      if (rig.underTest.reopen === undefined) throw new Error('nothing outlives this store')
      const lease = await rig.hold(key)
      const version = await rig.store.threads.commit(lease, changeOf())
      await rig.store.threads.remove(lease)
      await rig.store.leases.release(lease)
      const store = await rig.underTest.reopen()
      expect(await store.threads.commit(await hold(store, key), changeOf())).toBeGreaterThan(version)
    })

    test('does not bring back what was removed', async () => {
      if (rig.underTest.reopen === undefined) throw new Error('nothing outlives this store')
      const lease = await rig.hold(key)
      await rig.store.threads.commit(lease, changeOf({ append: messagesOf('a') }))
      await rig.store.log.append(lease, { runId: 'r1', firstSeq: 0, lines: linesOf('a', 3) })
      await rig.store.threads.remove(lease)
      const store = await rig.underTest.reopen()
      expect(await store.threads.load(key)).toBeUndefined()
      expect(await logOf(store, key, 'r1')).toEqual([])
    })
  })
}
