import { describe, expect, test } from 'vitest'
import type { Thread, ThreadChange } from '../../../src/threads/contract.js'
import { changeOf, keyOf, messagesOf, runOf, type Rig } from './rig.js'

const key = keyOf('thread')

/** A change with everything in it. */
const full: ThreadChange = {
  version: 0,
  keep: 0,
  append: messagesOf('m1', 'm2'),
  state: { count: 1 },
  interrupts: [{ id: 'i1', reason: 'approval', message: 'May I?', metadata: { level: 3 } }],
  pendingToolCalls: [{ id: 'c1', name: 'pick' }],
  checkpoint: { frames: { book: [1, null] } },
  title: 'A trip',
  forkedFrom: 'older',
  run: runOf('r1', {
    status: 'failed',
    endedAt: 1_600_000_000_500,
    nextSeq: 7,
    error: { code: 'MODEL_ERROR', message: 'No.' },
  }),
}

/** Text that stores get wrong, and keys that objects get wrong. */
const oddState =
  '{"é":"e\\u0301","null":null,"emoji":"👩‍👩‍👧","zero":"a\\u0000b","line":"\\u2028\\n","quote":"\'\\"%_",' +
  '"__proto__":{"x":1},"constructor":[],"":0,"big":1e300,"small":-5e-7,"deep":[[[{"a":[{}]}]]]}'

function withoutKeyAndTimes({
  key: _key,
  createdAt: _created,
  updatedAt: _updated,
  ...rest
}: Thread): object {
  return rest
}

/** What a commit writes, and what it leaves as it was. */
export function describeCommits(rig: Rig): void {
  describe('a commit', () => {
    test('finds the store ready', async () => {
      await expect(rig.store.check()).resolves.toBeUndefined()
    })

    test('makes the thread, which was not there before', async () => {
      expect(await rig.store.threads.load(key)).toBeUndefined()
      const lease = await rig.hold(key)
      expect(await rig.store.threads.commit(lease, changeOf())).toBe(1)
      expect(await rig.stored(key)).toEqual({
        key,
        version: 1,
        createdAt: rig.clock.now(),
        updatedAt: rig.clock.now(),
        title: '',
        messages: [],
        state: {},
        interrupts: [],
        pendingToolCalls: [],
      })
    })

    test('writes all that is in it', async () => {
      const { keep: _keep, append, ...rest } = full
      expect(withoutKeyAndTimes(await rig.save(key, full))).toEqual({ ...rest, version: 1, messages: append })
    })

    test('leaves the title, the origin and the run as they were when it does not name them', async () => {
      await rig.save(key, full)
      const thread = await rig.save(key, changeOf({ version: 1 }))
      expect(withoutKeyAndTimes(thread)).toEqual({
        version: 2,
        title: full.title,
        forkedFrom: full.forkedFrom,
        run: full.run,
        messages: [],
        state: {},
        interrupts: [],
        pendingToolCalls: [],
      })
    })

    test('replaces what it names', async () => {
      await rig.save(key, full)
      const change = {
        state: [1],
        interrupts: [{ id: 'i2', reason: 'question' }],
        pendingToolCalls: [],
        checkpoint: 'on',
        title: '',
        forkedFrom: 'another',
        run: runOf('r2', { status: 'completed' }),
      }
      expect(await rig.save(key, change)).toMatchObject({ ...change, version: 2 })
    })

    test('keeps what was shown of the state only while it says so', async () => {
      expect((await rig.save(key, { state: { a: 2 }, shown: { a: 1 } })).shown).toStrictEqual({ a: 1 })
      expect((await rig.save(key)).shown).toBeUndefined()
    })

    test('keeps what was shown before it, when it says so', async () => {
      await rig.save(key, { state: { a: 1 } })
      expect((await rig.save(key, { state: { a: 2 }, keepsShown: true })).shown).toStrictEqual({ a: 1 })
      expect((await rig.save(key, { state: { a: 3 }, keepsShown: true })).shown).toStrictEqual({ a: 1 })
      expect((await rig.save(key, { state: { a: 4 } })).shown).toBeUndefined()
    })

    test('is loaded without its messages, with their number', async () => {
      expect(await rig.store.threads.loadHead(key)).toBeUndefined()
      await rig.save(key, { state: { a: 1 } })
      const {
        messages,
        shown: _,
        ...head
      } = await rig.save(key, {
        ...full,
        ...{ version: 1, keepsShown: true },
      })
      expect(await rig.store.threads.loadHead(key)).toEqual({ ...head, messageCount: messages.length })
    })

    test('leaves no checkpoint when it has none', async () => {
      await rig.save(key, { checkpoint: { a: 1 } })
      expect((await rig.save(key)).checkpoint).toBeUndefined()
    })

    test.each([[null], [false], [0], [''], [{}], ['text'], [[null]]])(
      'tells the checkpoint %j from none',
      async (checkpoint) => {
        expect((await rig.save(key, { checkpoint })).checkpoint).toStrictEqual(checkpoint)
      },
    )

    test.each([
      [null],
      [true],
      [false],
      [0],
      [-1.5],
      [''],
      ['text'],
      [[]],
      [[1, null, 'a']],
      [{}],
      [{ a: null }],
    ])('keeps the state %j as it is', async (state) => {
      expect((await rig.save(key, { state })).state).toStrictEqual(state)
    })

    test('keeps odd characters, names and numbers in the state', async () => {
      const thread = await rig.save(key, { state: JSON.parse(oddState) })
      expect(JSON.stringify(thread.state)).toBe(JSON.stringify(JSON.parse(oddState)))
    })

    test('keeps when the thread was made and moves when it was changed', async () => {
      const first = await rig.save(key)
      await rig.clock.advance(1_000)
      const second = await rig.save(key)
      expect(second.createdAt).toBe(first.createdAt)
      expect(second.updatedAt).toBe(first.updatedAt + 1_000)
    })

    test('does not move the time of the change back when the clock is set back', async () => {
      const first = await rig.save(key)
      await rig.clock.advance(-60_000)
      expect((await rig.save(key)).updatedAt).toBe(first.updatedAt)
    })

    test('counts the version up by one', async () => {
      for (const version of [1, 2, 3]) expect((await rig.save(key)).version).toBe(version)
    })
  })

  test('200 commits at once on 200 threads all arrive', async () => {
    const keys = Array.from({ length: 200 }, (_, index) => keyOf(`thread-${index}`))
    await Promise.all(keys.map((each) => rig.save(each, { append: messagesOf(each.thread) })))
    for (const each of keys) expect((await rig.stored(each)).messages).toEqual(messagesOf(each.thread))
  })
}
