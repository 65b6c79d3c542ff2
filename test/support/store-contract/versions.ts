import { describe, expect, test } from 'vitest'
import { changeOf, inTime, keyOf, linesOf, messagesOf, runOf, type Rig } from './rig.js'

const key = keyOf('thread')

/** Versions, and commits that were made from another version than the stored one. */
export function describeVersions(rig: Rig): void {
  describe('a thread with the key of one that was removed', () => {
    const remove = async (): Promise<void> => {
      const lease = await rig.hold(key)
      await rig.store.threads.remove(lease)
      await rig.store.leases.release(lease)
    }

    test('has no version that the other has had', async () => {
      const seen: number[] = []
      for (const commits of [3, 1, 5, 2]) {
        for (let turn = 0; turn < commits; turn++) seen.push((await rig.save(key)).version)
        await remove()
      }
      expect(new Set(seen).size).toBe(11)
      expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    })

    test('has none also when one without a commit was removed in between', async () => {
      const { version } = await rig.save(key)
      await remove()
      const lease = await rig.hold(key)
      await rig.store.threads.begin(lease, runOf('r1'))
      expect((await rig.stored(key)).version).toBe(0)
      await rig.store.leases.release(lease)
      await remove()
      expect((await rig.save(key)).version).toBeGreaterThan(version)
    })

    test('is a change for those who know the version of the other', async () => {
      const { version } = await rig.save(key)
      await remove()
      await rig.save(key)
      // Would not resolve if the thread were as known.
      await inTime(
        rig.clock,
        rig.store.threads.changed(key, { version, isRunning: false }, new AbortController().signal),
      )
      expect((await rig.stored(key)).version).not.toBe(version)
    })
  })

  describe('a commit from another version than the stored one', () => {
    test.each([0, 1, 3])('is refused when it was made from version %i and there is 2', async (version) => {
      await rig.save(key)
      await rig.save(key)
      const before = await rig.stored(key)
      await expect(rig.save(key, { version })).rejects.toMatchObject({ code: 'VERSION_CONFLICT' })
      expect(await rig.stored(key)).toEqual(before)
    })

    test('is refused when there is no such thread', async () => {
      await expect(rig.save(key, { version: 1 })).rejects.toMatchObject({ code: 'VERSION_CONFLICT' })
      expect(await rig.store.threads.load(key)).toBeUndefined()
    })

    test('is refused after the thread was removed', async () => {
      const lease = await rig.hold(key)
      await rig.store.threads.commit(lease, changeOf())
      await rig.store.threads.remove(lease)
      const late = rig.store.threads.commit(lease, changeOf({ version: 1 }))
      await expect(late).rejects.toMatchObject({ code: 'VERSION_CONFLICT' })
    })

    test('changes nothing: neither the thread, nor its run, nor any log', async () => {
      const lease = await rig.hold(key)
      await rig.store.threads.commit(
        lease,
        changeOf({ append: messagesOf('m'), title: 'Old', checkpoint: 1 }),
      )
      await rig.store.threads.begin(lease, runOf('r2'))
      for (const runId of ['r1', 'r2'])
        await rig.store.log.append(lease, { runId, firstSeq: 0, lines: linesOf(runId, 2) })
      const before = await rig.stored(key)
      const change = changeOf({ version: 9, title: 'New', run: runOf('r2', { status: 'completed' }) })
      await expect(rig.store.threads.commit(lease, change)).rejects.toMatchObject({
        code: 'VERSION_CONFLICT',
      })
      expect(await rig.stored(key)).toEqual(before)
      expect(await rig.logOf(key, 'r1')).toHaveLength(2)
      expect(await rig.logOf(key, 'r2')).toHaveLength(2)
      expect(await rig.store.threads.unfinished()).toEqual([key])
    })

    test('lets exactly one of many commits at once through', async () => {
      const lease = await rig.hold(key)
      const commits = Array.from({ length: 20 }, (_, index) =>
        rig.store.threads.commit(lease, changeOf({ title: String(index) })),
      )
      const ends = await Promise.allSettled(commits)
      expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect((await rig.stored(key)).version).toBe(1)
    })
  })
}
