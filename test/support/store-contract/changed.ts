import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { Lease } from '../../../src/threads/contract.js'
import { changeOf, inTime, keyOf, linesOf, runOf, type Rig } from './rig.js'

const key = keyOf('thread')

/** Waiting for more events. */
export function describeChanged(rig: Rig): void {
  const started = async (): Promise<Lease> => {
    const lease = await rig.hold(key)
    await rig.store.threads.begin(lease, runOf('r1'))
    return lease
  }
  const append = (lease: Lease, firstSeq: number, count = 1): Promise<void> =>
    rig.store.log.append(lease, { runId: 'r1', firstSeq, lines: linesOf('a', count) })
  const changed = (after: number, signal = new AbortController().signal): Promise<void> =>
    rig.store.log.changed(key, { runId: 'r1', after }, signal)

  describe('a reader that waits for events of a run', () => {
    test('is woken when some are appended', async () => {
      const lease = await started()
      const waiting = changed(-1)
      await append(lease, 0)
      await inTime(rig.clock, waiting)
    })

    test('is woken by events that come with a commit', async () => {
      const lease = await started()
      const waiting = changed(-1)
      const log = { runId: 'r1', firstSeq: 0, lines: linesOf('a', 1) }
      await rig.store.threads.commit(lease, changeOf({ run: runOf('r1', { status: 'completed' }), log }))
      await inTime(rig.clock, waiting)
    })

    test('is woken by the first event of a thread that was not there', async () => {
      const waiting = changed(-1)
      await append(await started(), 0)
      await inTime(rig.clock, waiting)
    })

    test('is woken at once when there are some already', async () => {
      const lease = await started()
      await append(lease, 0, 3)
      await changed(-1)
      await changed(1)
    })

    test('is woken at once by events after numbers that were left out', async () => {
      const lease = await started()
      await append(lease, 0)
      await append(lease, 100)
      await changed(50)
    })

    test('does not miss what is appended between a read and the wait', async () => {
      const lease = await started()
      await append(lease, 0)
      const known = (await rig.logOf(key, 'r1')).at(-1)?.seq ?? -1
      await append(lease, 1)
      await changed(known)
    })

    test('is woken, like all others that wait', async () => {
      const lease = await started()
      await append(lease, 0)
      const waiting = Promise.all(Array.from({ length: 100 }, () => changed(0)))
      await append(lease, 1)
      await inTime(rig.clock, waiting)
    })

    test('sees every event of a busy run by reading and waiting in turn', async () => {
      const lease = await started()
      const reader = (async () => {
        const seen: number[] = []
        while (seen.length < 300) {
          const position = { runId: 'r1', after: seen.at(-1) ?? -1 }
          const entries = await rig.store.log.read(key, position, 7)
          seen.push(...entries.map(({ seq }) => seq))
          if (entries.length === 0) await changed(position.after)
        }
        return seen
      })()
      for (let seq = 0; seq < 300; seq += 3) await append(lease, seq, 3)
      expect(await inTime(rig.clock, reader)).toEqual(Array.from({ length: 300 }, (_, seq) => seq))
    })

    test('stops waiting when the signal aborts, also when it has aborted before', async () => {
      await started()
      const stop = new AbortController()
      const waiting = changed(-1, stop.signal)
      stop.abort()
      await expect(waiting).resolves.toBeUndefined()
      await expect(changed(-1, stop.signal)).resolves.toBeUndefined()
    })

    test('leaves no listener on the signal', async () => {
      const lease = await started()
      const { signal } = new AbortController()
      const waiting = changed(-1, signal)
      await append(lease, 0)
      await inTime(rig.clock, waiting)
      await changed(-1, signal)
      expect(getEventListeners(signal, 'abort')).toEqual([])
    })

    test('stops waiting when the store closes', async () => {
      await started()
      const waiting = changed(-1).catch(() => undefined)
      await inTime(rig.clock, rig.store.close())
      await inTime(rig.clock, waiting)
    })
  })

  describe('a reader that waits for events of a run that is removed', () => {
    test('is woken when the thread is removed', async () => {
      const lease = await started()
      await append(lease, 0)
      const waiting = changed(0)
      await rig.store.threads.remove(lease)
      await inTime(rig.clock, waiting)
    })

    test('is woken when the end of another run removes the log', async () => {
      const lease = await started()
      await append(lease, 0)
      const waiting = changed(0)
      await rig.store.threads.commit(lease, changeOf({ run: runOf('r2', { status: 'completed' }) }))
      await inTime(rig.clock, waiting)
    })
  })

  describe('a reader that waits for a change of a thread', () => {
    const none = { version: 0, isRunning: false }
    const threadChanged = (known = none, signal = new AbortController().signal): Promise<void> =>
      rig.store.threads.changed(key, known, signal)

    test('is woken when a run begins, and when it ends', async () => {
      const begun = threadChanged()
      const lease = await started()
      await inTime(rig.clock, begun)
      const ended = threadChanged({ version: 0, isRunning: true })
      await rig.store.threads.commit(lease, changeOf({ run: runOf('r1', { status: 'completed' }) }))
      await inTime(rig.clock, ended)
    })

    test('is woken by a commit without a run, and when the thread is removed', async () => {
      const committed = threadChanged()
      await rig.save(key)
      await inTime(rig.clock, committed)
      const removed = threadChanged({ version: 1, isRunning: false })
      await rig.store.threads.remove(await rig.hold(key))
      await inTime(rig.clock, removed)
    })

    test('is woken at once when the thread is not as it is known', async () => {
      await rig.save(key)
      await threadChanged()
      await threadChanged({ version: 1, isRunning: true })
      await started()
      await threadChanged({ version: 1, isRunning: false })
    })

    test('is not woken by another thread', async () => {
      let isWoken = false
      const stop = new AbortController()
      const waiting = threadChanged(none, stop.signal).then(() => (isWoken = true))
      await rig.save(keyOf('other'))
      await rig.save(keyOf('thread', { user: 'other' }))
      await rig.clock.advance(1_000)
      expect(isWoken).toBe(false)
      stop.abort()
      await waiting
    })

    test('stops waiting when the signal aborts, and leaves no listener on it', async () => {
      const stop = new AbortController()
      const waiting = threadChanged(none, stop.signal)
      stop.abort()
      await waiting
      await threadChanged(none, stop.signal)
      expect(getEventListeners(stop.signal, 'abort')).toEqual([])
    })

    test('stops waiting when the store closes', async () => {
      const waiting = threadChanged().catch(() => undefined)
      await inTime(rig.clock, rig.store.close())
      await waiting
    })
  })
}
