import type { Message } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import type { Thread, ThreadChange } from '../../../src/threads/contract.js'
import { changeOf, keyOf, messagesOf, type Rig } from './rig.js'

const original = keyOf('original')

/** Threads that keep messages of another. */
export function describeForks(rig: Rig): void {
  const idsOf = async (thread: string): Promise<string> =>
    (await rig.stored(keyOf(thread))).messages.map(({ id }) => id).join(' ')
  const save = (thread: string, change: Partial<ThreadChange>): Promise<Thread> =>
    rig.save(keyOf(thread), change)
  const fork = (thread: string, forkedFrom: string, keep: number, ...ids: string[]): Promise<Thread> =>
    save(thread, { version: 0, keep, append: messagesOf(...ids), forkedFrom })
  const remove = async (thread: string): Promise<void> => {
    const lease = await rig.hold(keyOf(thread))
    await rig.store.threads.remove(lease)
    await rig.store.leases.release(lease)
  }

  describe('a fork', () => {
    test('has the first messages of another thread, and its own after them', async () => {
      await rig.save(original, { append: messagesOf('a', 'b', 'c'), title: 'Original', state: { n: 1 } })
      const made = await fork('fork', 'original', 2, 'x')
      expect(made).toMatchObject({ version: 1, title: '', state: {}, forkedFrom: 'original' })
      expect(made.messages).toEqual(messagesOf('a', 'b', 'x'))
      const { threads } = await rig.store.threads.list(original, { limit: 10 })
      expect(threads.find(({ key }) => key.thread === 'fork')).toMatchObject({ messageCount: 3 })
      expect(await idsOf('original')).toBe('a b c')
    })

    test('stays whole when the original is cut, continued and removed', async () => {
      await rig.save(original, { append: messagesOf('a', 'b', 'c') })
      await fork('fork', 'original', 3)
      await rig.save(original, { keep: 1, append: messagesOf('x', 'y', 'z') })
      expect([await idsOf('fork'), await idsOf('original')]).toEqual(['a b c', 'a x y z'])
      await rig.save(original, { keep: 4, append: messagesOf('w') })
      expect([await idsOf('fork'), await idsOf('original')]).toEqual(['a b c', 'a x y z w'])
      await remove('original')
      expect(await idsOf('fork')).toBe('a b c')
      await save('fork', { keep: 3, append: messagesOf('d') })
      expect(await idsOf('fork')).toBe('a b c d')
    })

    test('leaves the original whole when it is cut, continued and removed', async () => {
      await rig.save(original, { append: messagesOf('a', 'b', 'c') })
      await fork('fork', 'original', 3)
      await save('fork', { keep: 3, append: messagesOf('x') })
      await rig.save(original, { keep: 3, append: messagesOf('d') })
      expect([await idsOf('fork'), await idsOf('original')]).toEqual(['a b c x', 'a b c d'])
      await save('fork', { keep: 1, append: messagesOf('y') })
      expect([await idsOf('fork'), await idsOf('original')]).toEqual(['a y', 'a b c d'])
      await remove('fork')
      expect(await idsOf('original')).toBe('a b c d')
    })

    test('can be forked, and any of them removed', async () => {
      const all = ['original', 'one', 'two', 'three']
      const makeAll = async (): Promise<void> => {
        await rig.save(original, { version: 0, append: messagesOf('a', 'b', 'c') })
        await fork('one', 'original', 3, 'd')
        await fork('two', 'one', 4, 'e')
        await rig.save(original, { keep: 1, append: messagesOf('x') })
        await fork('three', 'two', 2)
      }
      const whole: Record<string, string> = {
        original: 'a x',
        one: 'a b c d',
        two: 'a b c d e',
        three: 'a b',
      }
      for (const order of [all, all.toReversed(), ['two', 'original', 'three', 'one']]) {
        await makeAll()
        for (const [n, removed] of order.entries()) {
          await remove(removed)
          for (const left of order.slice(n + 1)) expect(await idsOf(left)).toBe(whole[left])
        }
        expect(await rig.underTest.messageRows?.()).toBe(rig.underTest.messageRows && 0)
      }
    })

    test('may keep nothing of a thread that is gone', async () => {
      expect((await fork('fork', 'gone', 0, 'a')).messages).toEqual(messagesOf('a'))
    })

    test('cannot keep more than there is, nor of another user', async () => {
      await rig.save(original, { append: messagesOf('a') })
      await rig.save(keyOf('theirs', { user: 'somebody else' }), { append: messagesOf('secret') })
      for (const [from, keep] of [
        ['original', 2],
        ['theirs', 1],
        ['gone', 1],
      ] as const) {
        const key = keyOf(`fork of ${from}`)
        await expect(fork(key.thread, from, keep)).rejects.toMatchObject({ code: 'VERSION_CONFLICT' })
        expect(await rig.store.threads.load(key)).toBeUndefined()
      }
    })

    test('takes no room for what it has in common: twenty edits of a long thread do not double it', async () => {
      if (rig.underTest.bytes === undefined) return
      const content = 'So it goes on and on. '.repeat(450)
      const long = Array.from({ length: 400 }, (_, n): Message => ({ id: `m${n}`, role: 'user', content }))
      const { threads } = rig.store
      const lease = await rig.hold(original)
      await threads.commit(lease, changeOf({ append: long }))
      const before = await rig.underTest.bytes()
      expect(before).toBeGreaterThan(3_900_000)
      for (let edit = 1, count = 400; edit <= 20; edit++) {
        const forked = await rig.hold(keyOf(`fork ${edit}`))
        await threads.commit(forked, changeOf({ keep: count, forkedFrom: 'original' }))
        const keep = 400 - 10 * edit
        const append = messagesOf(`edit ${edit}`, `answer ${edit}`)
        await threads.commit(lease, changeOf({ version: edit, keep, append }))
        count = keep + append.length
      }
      expect((await rig.underTest.bytes()) / before).toBeLessThan(1.2)
      expect((await rig.stored(keyOf('fork 1'))).messages).toEqual(long)
    })
  })
}
