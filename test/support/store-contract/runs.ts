import { describe, expect, test } from 'vitest'
import { changeOf, keyOf, linesOf, messagesOf, runOf, type Rig } from './rig.js'

const key = keyOf('thread')

/** Runs that start, and threads that are removed. */
export function describeRuns(rig: Rig): void {
  describe('the begin of a run', () => {
    test('makes an empty thread with version 0 when there is none', async () => {
      await rig.store.threads.begin(await rig.hold(key), runOf('r1'))
      expect(await rig.stored(key)).toEqual({
        key,
        version: 0,
        createdAt: rig.clock.now(),
        updatedAt: rig.clock.now(),
        title: '',
        messages: [],
        state: {},
        interrupts: [],
        pendingToolCalls: [],
        run: runOf('r1'),
      })
    })

    test('changes only the run of a thread that is there', async () => {
      const before = await rig.save(key, { append: messagesOf('a'), state: 1, checkpoint: 2, title: 'Old' })
      await rig.clock.advance(1_000)
      await rig.store.threads.begin(await rig.hold(key), runOf('r1', { nextSeq: 4 }))
      expect(await rig.stored(key)).toEqual({ ...before, run: runOf('r1', { nextSeq: 4 }) })
    })

    test('keeps what the run has started with', async () => {
      const start = { keep: 1, append: messagesOf('b'), state: { a: [null] }, clientTools: ['pick'] }
      await rig.store.threads.begin(await rig.hold(key), runOf('r1', { start }))
      expect((await rig.stored(key)).run).toEqual(runOf('r1', { start }))
    })

    test('takes the place of the run before', async () => {
      const lease = await rig.hold(key)
      await rig.store.threads.begin(lease, runOf('r1'))
      await rig.store.threads.begin(lease, runOf('r2', { startedAt: 5 }))
      expect((await rig.stored(key)).run).toEqual(runOf('r2', { startedAt: 5 }))
    })

    test('may come once more for the same run, with more to start with; its log stays', async () => {
      const before = await rig.save(key, { append: messagesOf('a'), state: 1 })
      const lease = await rig.hold(key)
      const start = { keep: 1, append: messagesOf('b'), state: { a: 1 }, clientTools: [] }
      await rig.store.threads.begin(lease, runOf('r1', { start }))
      await rig.store.log.append(lease, { runId: 'r1', firstSeq: 0, lines: linesOf('a', 2) })
      const run = runOf('r1', { start: { ...start, state: { a: 1, b: [2] } } })
      await rig.store.threads.begin(lease, run)
      expect(await rig.stored(key)).toEqual({ ...before, run })
      await rig.store.log.append(lease, { runId: 'r1', firstSeq: 2, lines: linesOf('b', 1) })
      expect(await rig.logOf(key, 'r1')).toHaveLength(3)
      expect(await rig.store.threads.unfinished()).toEqual([key])
    })

    test('is followed by a commit from the version the thread has', async () => {
      const lease = await rig.hold(key)
      await rig.store.threads.begin(lease, runOf('r1', { start: { ...changeOf(), clientTools: [] } }))
      const createdAt = rig.clock.now()
      await rig.clock.advance(1_000)
      const run = runOf('r1', { status: 'completed', endedAt: 9, nextSeq: 3 })
      expect(await rig.store.threads.commit(lease, changeOf({ run }))).toBe(1)
      expect(await rig.stored(key)).toMatchObject({ createdAt, updatedAt: rig.clock.now(), run })
      expect((await rig.stored(key)).run).toEqual(run)
    })
  })

  describe('an unfinished run', () => {
    test('is one that has begun and not ended', async () => {
      expect(await rig.store.threads.unfinished()).toEqual([])
      const lease = await rig.hold(key)
      await rig.store.threads.begin(lease, runOf('r1'))
      expect(await rig.store.threads.unfinished()).toEqual([key])
      await rig.store.threads.commit(lease, changeOf({ run: runOf('r1', { status: 'lost' }) }))
      expect(await rig.store.threads.unfinished()).toEqual([])
      await rig.store.threads.begin(lease, runOf('r2'))
      expect(await rig.store.threads.unfinished()).toEqual([key])
    })

    test('stays one after a commit that does not name it', async () => {
      const lease = await rig.hold(key)
      await rig.store.threads.begin(lease, runOf('r1'))
      await rig.store.threads.commit(lease, changeOf())
      expect(await rig.store.threads.unfinished()).toEqual([key])
    })

    test('is found for all owners', async () => {
      const keys = [keyOf('a'), keyOf('a', { user: 'other' }), keyOf('b', { app: 'other' })]
      for (const each of keys) await rig.store.threads.begin(await rig.hold(each), runOf('r1'))
      await rig.save(keyOf('ended'), { run: runOf('r1', { status: 'cancelled' }) })
      const found = await rig.store.threads.unfinished()
      expect(found).toHaveLength(3)
      expect(found).toEqual(expect.arrayContaining(keys))
    })
  })

  describe('a removed thread', () => {
    test('is gone, with its runs and their logs', async () => {
      const lease = await rig.hold(key)
      await rig.store.threads.commit(lease, changeOf({ append: messagesOf('a') }))
      await rig.store.threads.begin(lease, runOf('r1'))
      await rig.store.log.append(lease, { runId: 'r1', firstSeq: 0, lines: linesOf('a', 3) })
      await rig.store.threads.remove(lease)
      expect(await rig.store.threads.load(key)).toBeUndefined()
      expect(await rig.logOf(key, 'r1')).toEqual([])
      expect(await rig.store.threads.unfinished()).toEqual([])
      expect(await rig.store.threads.list(key, { limit: 10 })).toEqual({ threads: [] })
      expect(await rig.store.threads.idle(Number.MAX_SAFE_INTEGER, 10)).toEqual([])
    })

    test('need not have been there', async () => {
      await rig.store.threads.remove(await rig.hold(key))
      expect(await rig.store.threads.load(key)).toBeUndefined()
    })

    test('leaves the threads beside it alone', async () => {
      const others = [keyOf('thread', { user: 'other' }), keyOf('thread2')]
      for (const each of others) await rig.save(each)
      await rig.save(key)
      await rig.store.threads.remove(await rig.hold(key))
      for (const each of others) expect(await rig.store.threads.load(each)).toBeDefined()
    })

    test('can be made again by the same holder, as a new one with nothing of the old', async () => {
      const lease = await rig.hold(key)
      const old = { append: messagesOf('a', 'b'), checkpoint: 1, title: 'Old', forkedFrom: 'x' }
      await rig.store.threads.commit(lease, changeOf({ ...old, run: runOf('r1', { status: 'completed' }) }))
      await rig.store.log.append(lease, { runId: 'r1', firstSeq: 0, lines: linesOf('a', 3) })
      await rig.store.threads.remove(lease)
      await rig.clock.advance(1_000)
      const version = await rig.store.threads.commit(lease, changeOf({ append: messagesOf('c') }))
      expect(await rig.stored(key)).toEqual({
        key,
        version,
        createdAt: rig.clock.now(),
        updatedAt: rig.clock.now(),
        title: '',
        messages: messagesOf('c'),
        state: {},
        interrupts: [],
        pendingToolCalls: [],
      })
      await rig.store.log.append(lease, { runId: 'r1', firstSeq: 0, lines: linesOf('b', 1) })
      expect(await rig.logOf(key, 'r1')).toHaveLength(1)
    })
  })
}
