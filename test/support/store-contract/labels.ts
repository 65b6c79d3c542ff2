import { describe, expect, test } from 'vitest'
import { changeOf, keyOf, messagesOf, runOf, type Rig } from './rig.js'

const key = keyOf('thread')

/** What a person gives a thread: a title, and whether it is put away. */
export function describeLabels(rig: Rig): void {
  const listed = async (withoutArchived: boolean): Promise<string[]> => {
    const { threads } = await rig.store.threads.list(key, { limit: 10, withoutArchived })
    return threads.map((thread) => thread.key.thread)
  }

  describe('a label', () => {
    test('changes the title and nothing else, not even the time of the change', async () => {
      const thread = await rig.save(key, { append: messagesOf('m1'), state: { a: 1 }, title: 'First words' })
      await rig.clock.advance(1_000)
      expect(await rig.store.threads.label(key, { title: 'Oslo' })).toBe(true)
      expect(await rig.stored(key)).toEqual({ ...thread, title: 'Oslo' })
    })

    test('is written while a run holds the thread, and its commit does not take it back', async () => {
      const lease = await rig.hold(key)
      await rig.store.threads.begin(lease, runOf('r1'))
      expect(await rig.store.threads.label(key, { title: 'Oslo', archived: true })).toBe(true)
      const run = runOf('r1', { status: 'completed' })
      await rig.store.threads.commit(lease, changeOf({ title: 'First words', run }))
      expect(await rig.stored(key)).toMatchObject({ title: 'Oslo', archived: true, version: 1, run })
      await rig.store.threads.begin(lease, runOf('r2'))
      expect(await rig.stored(key)).toMatchObject({ title: 'Oslo', archived: true })
    })

    test('puts a thread away and takes it back, and leaves the title to the commits', async () => {
      await rig.save(key, { title: 'One' })
      await rig.store.threads.label(key, { archived: true })
      expect(await rig.stored(key)).toMatchObject({ title: 'One', archived: true })
      expect(await rig.save(key, { title: 'Two' })).toMatchObject({ title: 'Two', archived: true })
      await rig.store.threads.label(key, { archived: false })
      expect(await rig.stored(key)).not.toHaveProperty('archived')
    })

    test('leaves what it does not name', async () => {
      await rig.save(key)
      await rig.store.threads.label(key, { title: 'Oslo', archived: true })
      await rig.store.threads.label(key, {})
      expect(await rig.stored(key)).toMatchObject({ title: 'Oslo', archived: true })
    })

    test.each(['é/👋', 'a\u0000b', '"quoted"', '\ud800', "'; --", ''])(
      'keeps the odd title %j',
      async (title) => {
        await rig.save(key, { title: 'Before' })
        await rig.store.threads.label(key, { title })
        expect((await rig.save(key, { title: 'After' })).title).toBe(title)
      },
    )

    test('finds no thread of another user, none without a run or a commit, and none that was removed', async () => {
      await rig.save(key, { title: 'Mine' })
      for (const other of [keyOf('thread', { user: 'other' }), keyOf('other')])
        expect(await rig.store.threads.label(other, { title: 'Theirs', archived: true })).toBe(false)
      const begun = await rig.hold(keyOf('begun'))
      await rig.store.log.append(begun, { runId: 'r1', firstSeq: 0, lines: ['{}'] })
      expect(await rig.store.threads.label(begun.key, { title: 'Early' })).toBe(false)
      expect((await rig.stored(key)).title).toBe('Mine')
    })

    test('goes with its thread', async () => {
      await rig.save(key)
      await rig.store.threads.label(key, { title: 'Oslo', archived: true })
      const lease = await rig.hold(key)
      await rig.store.threads.remove(lease)
      expect(await rig.store.threads.label(key, { title: 'Gone' })).toBe(false)
      await rig.store.threads.commit(lease, changeOf({ title: 'Anew' }))
      const thread = await rig.stored(key)
      expect(thread.title).toBe('Anew')
      expect(thread).not.toHaveProperty('archived')
    })
  })

  describe('a list without archived threads', () => {
    test('leaves them out; any other list shows that they are', async () => {
      for (const thread of ['a', 'b', 'c']) await rig.save(keyOf(thread))
      await rig.store.threads.label(keyOf('b'), { archived: true })
      expect(await listed(true)).toEqual(['a', 'c'])
      expect(await listed(false)).toEqual(['a', 'b', 'c'])
      const { threads } = await rig.store.threads.list(key, { limit: 10 })
      expect(threads.map(({ archived }) => archived)).toEqual([undefined, true, undefined])
      expect(
        (await rig.store.threads.idle(rig.clock.now() + 1, 10)).filter(({ archived }) => archived),
      ).toHaveLength(1)
    })

    test('fills its pages, and ends where no more follow', async () => {
      for (const thread of ['a', 'b', 'c', 'd', 'e']) await rig.save(keyOf(thread))
      for (const thread of ['b', 'd', 'e']) await rig.store.threads.label(keyOf(thread), { archived: true })
      const first = await rig.store.threads.list(key, { limit: 1, withoutArchived: true })
      expect(first.threads.map((thread) => thread.key.thread)).toEqual(['a'])
      const { cursor = '' } = first
      const second = await rig.store.threads.list(key, { limit: 1, withoutArchived: true, cursor })
      expect(second.threads.map((thread) => thread.key.thread)).toEqual(['c'])
      expect(second.cursor).toBeUndefined()
    })
  })
}
