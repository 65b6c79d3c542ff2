import { describe, expect, test } from 'vitest'
import type { Lease } from '../../../src/threads/contract.js'
import { changeOf, keyOf, linesOf, runOf, type Rig } from './rig.js'

const key = keyOf('thread')

/** Events that are written together with the end of their run. */
export function describeLastEvents(rig: Rig): void {
  const started = async (...runIds: readonly string[]): Promise<Lease> => {
    const lease = await rig.hold(key)
    for (const runId of runIds) await rig.store.threads.begin(lease, runOf(runId))
    return lease
  }
  const append = (lease: Lease, runId: string): Promise<void> =>
    rig.store.log.append(lease, { runId, firstSeq: 0, lines: linesOf('a', 2) })
  const seqs = async (): Promise<number[]> => (await rig.logOf(key, 'r1')).map(({ seq }) => seq)

  describe('the last events of a run that come with its commit', () => {
    const ended = runOf('r1', { status: 'completed', nextSeq: 4 })

    test('are added to its log', async () => {
      const lease = await started('r0', 'r1')
      await append(lease, 'r0')
      await append(lease, 'r1')
      const log = { runId: 'r1', firstSeq: 2, lines: linesOf('b', 2) }
      await rig.store.threads.commit(lease, changeOf({ run: ended, log }))
      const lines = [...linesOf('a', 2), ...linesOf('b', 2)]
      expect(await rig.logOf(key, 'r1')).toEqual(lines.map((json, seq) => ({ seq, json })))
      expect(await rig.logOf(key, 'r0')).toEqual([])
    })

    test('may be all that the run has, or none', async () => {
      const lease = await rig.hold(key)
      const log = { runId: 'r1', firstSeq: 0, lines: linesOf('a', 4) }
      await rig.store.threads.commit(lease, changeOf({ run: ended, log }))
      expect(await seqs()).toEqual([0, 1, 2, 3])
      const none = { runId: 'r1', firstSeq: 4, lines: [] }
      await rig.store.threads.commit(lease, changeOf({ version: 1, run: ended, log: none }))
      expect(await seqs()).toEqual([0, 1, 2, 3])
    })

    test('are not added when the commit is refused', async () => {
      const lease = await started('r1')
      const log = { runId: 'r1', firstSeq: 0, lines: linesOf('a', 2) }
      for (const change of [{ version: 5 }, { keep: 1 }]) {
        const refused = rig.store.threads.commit(lease, changeOf({ ...change, run: ended, log }))
        await expect(refused).rejects.toMatchObject({ code: 'VERSION_CONFLICT' })
      }
      expect(await rig.logOf(key, 'r1')).toEqual([])
      await rig.store.leases.release(lease)
      const late = rig.store.threads.commit(lease, changeOf({ run: ended, log }))
      await expect(late).rejects.toMatchObject({ code: 'LEASE_LOST' })
      expect(await rig.logOf(key, 'r1')).toEqual([])
    })

    test('refuse the whole commit when they have a number that is there already', async () => {
      const lease = await started('r0', 'r1')
      for (const runId of ['r0', 'r1']) await append(lease, runId)
      const before = await rig.stored(key)
      const log = { runId: 'r1', firstSeq: 1, lines: linesOf('b', 2) }
      const refused = rig.store.threads.commit(lease, changeOf({ title: 'New', run: ended, log }))
      await expect(refused).rejects.toMatchObject({ code: 'STORE_ERROR' })
      expect(await rig.stored(key)).toEqual(before)
      expect(await seqs()).toEqual([0, 1])
      expect(await rig.logOf(key, 'r0')).toHaveLength(2)
      expect(await rig.store.threads.list(key, { limit: 10 })).toEqual({ threads: [] })
    })
  })
}
