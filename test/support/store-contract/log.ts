import { describe, expect, test } from 'vitest'
import type { Lease, LogEntry } from '../../../src/threads/contract.js'
import { changeOf, keyOf, lineOf, linesOf, runOf, type Rig } from './rig.js'

const key = keyOf('thread')

/** The events of runs: kept in order, read from anywhere, removed in time. */
export function describeLog(rig: Rig): void {
  const started = async (...runIds: readonly string[]): Promise<Lease> => {
    const lease = await rig.hold(key)
    for (const runId of runIds) await rig.store.threads.begin(lease, runOf(runId))
    return lease
  }
  const append = (lease: Lease, runId: string, firstSeq: number, lines: readonly string[]): Promise<void> =>
    rig.store.log.append(lease, { runId, firstSeq, lines })
  const read = (after: number, limit = 100): Promise<readonly LogEntry[]> =>
    rig.store.log.read(key, { runId: 'r1', after }, limit)
  const seqs = async (after: number, limit?: number): Promise<number[]> =>
    (await read(after, limit)).map(({ seq }) => seq)

  describe('the log of a run', () => {
    test('is empty when there is no such thread, no such run, or no event', async () => {
      expect(await read(-1)).toEqual([])
      await started('r1')
      expect(await read(-1)).toEqual([])
      expect(await rig.logOf(key, 'other')).toEqual([])
    })

    test('has the events in order, however they came', async () => {
      const lease = await started('r1')
      await append(lease, 'r1', 0, linesOf('a', 2))
      await append(lease, 'r1', 2, linesOf('b', 1))
      await append(lease, 'r1', 3, [])
      await append(lease, 'r1', 3, linesOf('c', 2))
      const lines = [...linesOf('a', 2), ...linesOf('b', 1), ...linesOf('c', 2)]
      expect(await read(-1)).toEqual(lines.map((json, seq) => ({ seq, json })))
    })

    test('can be read from any number on, as much as asked for', async () => {
      const lease = await started('r1')
      await append(lease, 'r1', 0, linesOf('a', 3))
      await append(lease, 'r1', 3, linesOf('b', 3))
      expect(await seqs(-1, 2)).toEqual([0, 1])
      expect(await seqs(1, 2)).toEqual([2, 3])
      expect(await seqs(0)).toEqual([1, 2, 3, 4, 5])
      expect(await seqs(4)).toEqual([5])
      expect(await seqs(5)).toEqual([])
      expect(await seqs(500)).toEqual([])
      expect(await seqs(-1, 6)).toHaveLength(6)
    })

    test('keeps every character of a line', async () => {
      const texts = [
        '👩‍👩‍👧 你好',
        'e\u0301',
        '\u2028\u2029',
        'a\u0000b\n\t',
        '\ud800',
        `'"\\%_`,
        'x'.repeat(100_000),
      ]
      const lines = texts.map((value) => JSON.stringify({ type: 'CUSTOM', name: 'n', value }))
      await append(await started('r1'), 'r1', 0, lines)
      expect((await read(-1)).map(({ json }) => json)).toEqual(lines)
    })

    test('is apart from that of another run of the thread', async () => {
      const lease = await started('r1', 'r2')
      await append(lease, 'r1', 0, linesOf('a', 2))
      await append(lease, 'r2', 0, linesOf('b', 1))
      expect(await read(-1)).toHaveLength(2)
      expect(await rig.logOf(key, 'r2')).toEqual([{ seq: 0, json: lineOf('b', 0) }])
    })

    test('may begin with a higher number', async () => {
      const lease = await started('r1')
      await append(lease, 'r1', 40, linesOf('a', 3))
      expect(await seqs(-1)).toEqual([40, 41, 42])
      expect(await seqs(10, 2)).toEqual([40, 41])
      expect(await seqs(39)).toEqual([40, 41, 42])
      expect(await seqs(40)).toEqual([41, 42])
    })

    test('may leave numbers out', async () => {
      const lease = await started('r1')
      await append(lease, 'r1', 0, linesOf('a', 2))
      await append(lease, 'r1', 10, linesOf('b', 2))
      await append(lease, 'r1', 20, linesOf('c', 1))
      expect(await seqs(-1)).toEqual([0, 1, 10, 11, 20])
      expect(await seqs(1)).toEqual([10, 11, 20])
      expect(await seqs(5, 2)).toEqual([10, 11])
      expect(await seqs(10)).toEqual([11, 20])
      expect(await seqs(19)).toEqual([20])
    })

    test('takes no number twice, and nothing of such a batch', async () => {
      const lease = await started('r1')
      await append(lease, 'r1', 0, linesOf('a', 3))
      for (const first of [0, 1, 2])
        await expect(append(lease, 'r1', first, linesOf('b', 5))).rejects.toMatchObject({
          code: 'STORE_ERROR',
        })
      expect(await read(-1)).toEqual(linesOf('a', 3).map((json, seq) => ({ seq, json })))
    })

    test('takes 10,000 events at once', async () => {
      const lease = await started('r1')
      await append(lease, 'r1', 0, linesOf('a', 10_000))
      await append(lease, 'r1', 10_000, linesOf('b', 10_000))
      expect(await read(-1, 100_000)).toHaveLength(20_000)
      expect(await read(9_998, 2)).toEqual([
        { seq: 9_999, json: lineOf('a', 9_999) },
        { seq: 10_000, json: lineOf('b', 0) },
      ])
      expect(await read(19_998)).toEqual([{ seq: 19_999, json: lineOf('b', 9_999) }])
    })

    test('stays as it was read when more is appended', async () => {
      const lease = await started('r1')
      await append(lease, 'r1', 0, linesOf('a', 2))
      const entries = await read(-1)
      await append(lease, 'r1', 2, linesOf('b', 2))
      expect(entries).toHaveLength(2)
    })
  })

  describe('after a run has ended', () => {
    test('its log stays and those of the runs before it go', async () => {
      const lease = await started('r1', 'r2', 'r3')
      for (const runId of ['r1', 'r2', 'r3']) await append(lease, runId, 0, linesOf(runId, 2))
      await rig.store.threads.commit(lease, changeOf({ run: runOf('r3', { status: 'completed' }) }))
      expect(await rig.logOf(key, 'r1')).toEqual([])
      expect(await rig.logOf(key, 'r2')).toEqual([])
      expect(await rig.logOf(key, 'r3')).toHaveLength(2)
    })

    test('the logs of other threads stay', async () => {
      const other = keyOf('thread', { user: 'other' })
      const otherLease = await rig.hold(other)
      await rig.store.threads.begin(otherLease, runOf('r1'))
      await append(otherLease, 'r1', 0, linesOf('a', 2))
      const lease = await started('r2')
      await rig.store.threads.commit(lease, changeOf({ run: runOf('r2', { status: 'completed' }) }))
      expect(await rig.logOf(other, 'r1')).toHaveLength(2)
    })

    test('a commit without a run, or the begin of another, leaves its log', async () => {
      const lease = await started('r1')
      await append(lease, 'r1', 0, linesOf('a', 2))
      await rig.store.threads.commit(lease, changeOf({ run: runOf('r1', { status: 'completed' }) }))
      await rig.store.threads.commit(lease, changeOf({ version: 1 }))
      await rig.store.threads.begin(lease, runOf('r2'))
      expect(await read(-1)).toHaveLength(2)
    })

    test('a run with the same id goes on with the numbers', async () => {
      const lease = await started('r1')
      await append(lease, 'r1', 0, linesOf('a', 2))
      const ended = runOf('r1', { status: 'completed', nextSeq: 2 })
      await rig.store.threads.commit(lease, changeOf({ run: ended }))
      await rig.store.threads.begin(lease, runOf('r1', { nextSeq: 2 }))
      await append(lease, 'r1', 2, linesOf('b', 2))
      await rig.store.threads.commit(lease, changeOf({ version: 1, run: { ...ended, nextSeq: 4 } }))
      expect(await seqs(-1)).toEqual([0, 1, 2, 3])
      expect(await seqs(1)).toEqual([2, 3])
    })
  })
}
