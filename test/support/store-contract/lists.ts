import { describe, expect, test } from 'vitest'
import type { ThreadKey, ThreadPage } from '../../../src/threads/contract.js'
import { changeOf, keyOf, messagesOf, runOf, type Rig } from './rig.js'

const owner = keyOf('')

/** Lists of threads, page by page, and idle threads. */
export function describeLists(rig: Rig): void {
  const saveInTurn = async (...threads: readonly string[]): Promise<void> => {
    for (const thread of threads) {
      await rig.clock.advance(1_000)
      await rig.save(keyOf(thread))
    }
  }
  const page = (limit: number, cursor?: string): Promise<ThreadPage> =>
    rig.store.threads.list(owner, cursor === undefined ? { limit } : { limit, cursor })
  const names = (threads: readonly { readonly key: ThreadKey }[]): string[] =>
    threads.map(({ key }) => key.thread)
  /** All pages from a cursor on. */
  const rest = async (limit: number, from?: string): Promise<string[]> => {
    const found: string[] = []
    for (let cursor = from, turn = 0; turn < 100; turn++) {
      const next = await page(limit, cursor)
      found.push(...names(next.threads))
      if (next.cursor === undefined) return found
      cursor = next.cursor
    }
    throw new Error('The pages have no end.')
  }
  const remove = async (thread: string): Promise<void> => {
    const lease = await rig.hold(keyOf(thread))
    await rig.store.threads.remove(lease)
    await rig.store.leases.release(lease)
  }

  describe('a list of threads', () => {
    test('is empty for an owner who has none', async () => {
      expect(await page(10)).toEqual({ threads: [] })
    })

    test('has those changed last first', async () => {
      await saveInTurn('a', 'b', 'c', 'a')
      expect(names((await page(10)).threads)).toEqual(['a', 'c', 'b'])
    })

    test('orders threads that changed at the same time by their ids', async () => {
      for (const thread of ['b', 'a', 'd', 'B', 'c']) await rig.save(keyOf(thread))
      expect(await rest(10)).toEqual(['B', 'a', 'b', 'c', 'd'])
      expect(await rest(2)).toEqual(['B', 'a', 'b', 'c', 'd'])
    })

    test('says of each thread what it is', async () => {
      const run = runOf('r1', { status: 'interrupted', endedAt: 5, nextSeq: 6 })
      const thread = await rig.save(keyOf('a'), {
        append: messagesOf('m1', 'm2'),
        interrupts: [{ id: 'i', reason: 'question' }],
        pendingToolCalls: ['x', 'y', 'z'].map((id) => ({ id, name: 'pick' })),
        title: 'Title',
        forkedFrom: 'older',
        run,
      })
      const { key, version, createdAt, updatedAt, title, forkedFrom } = thread
      const counts = { messageCount: 2, interruptCount: 1, pendingToolCallCount: 3 }
      const summary = { key, version, createdAt, updatedAt, title, forkedFrom, ...counts, run }
      expect(await page(10)).toEqual({ threads: [summary] })
      expect(await rig.store.threads.idle(updatedAt + 1, 10)).toEqual([summary])
    })

    test('counts the messages that are there now', async () => {
      await rig.save(keyOf('a'), { append: messagesOf('m1', 'm2', 'm3') })
      await rig.save(keyOf('a'), { keep: 1 })
      expect((await page(10)).threads[0]?.messageCount).toBe(1)
    })

    test('shows the run that is at work, without what it has started with', async () => {
      await rig.save(keyOf('a'))
      const start = { ...changeOf(), clientTools: [] }
      await rig.store.threads.begin(await rig.hold(keyOf('a')), runOf('r1', { start }))
      expect((await page(10)).threads[0]?.run).toEqual(runOf('r1'))
    })

    test('does not move a thread whose run has only begun', async () => {
      await saveInTurn('a', 'b')
      await rig.clock.advance(1_000)
      await rig.store.threads.begin(await rig.hold(keyOf('a')), runOf('r1'))
      expect(await rest(10)).toEqual(['b', 'a'])
    })

    test('leaves out a thread that nothing was committed to', async () => {
      const lease = await rig.hold(keyOf('a'))
      await rig.store.threads.begin(lease, runOf('r1'))
      expect(await page(10)).toEqual({ threads: [] })
      await rig.store.threads.commit(lease, changeOf())
      expect(await rest(10)).toEqual(['a'])
    })
  })

  describe('a search for threads', () => {
    const found = async (search: string, limit = 10): Promise<string[]> => {
      const all: string[] = []
      for (let cursor: string | undefined; ;) {
        const next = await rig.store.threads.list(owner, {
          limit,
          search,
          ...(cursor === undefined ? {} : { cursor }),
        })
        all.push(...names(next.threads))
        if (next.cursor === undefined) return all
        cursor = next.cursor
      }
    }
    const titled = async (titles: Readonly<Record<string, string>>): Promise<void> => {
      for (const [thread, title] of Object.entries(titles)) {
        await rig.clock.advance(1_000)
        await rig.save(keyOf(thread), { title })
      }
    }

    test('finds those with the text in their title, whatever the case, the latest first', async () => {
      await titled({ a: 'Trip to Rome', b: 'Cake', c: 'roman food' })
      expect(await found('ROM')).toEqual(['c', 'a'])
      expect(await found('cake')).toEqual(['b'])
      expect(await found('paris')).toEqual([])
      expect(await found('')).toEqual(['c', 'b', 'a'])
    })

    test('knows the case of letters in all scripts', async () => {
      await titled({ de: 'Fahrt ÜBER die Straße', ru: 'Поездка в МОСКВУ', el: 'ΟΔΟΣ', zh: '去北京 Trip' })
      await rig.save(keyOf('named'), { title: 'x' })
      await rig.store.threads.label(keyOf('named'), { title: 'ČEŠTINA' })
      for (const text of ['über', 'ÜBER', 'U\u0308ber', 'STRASSE', 'straße'])
        expect(await found(text), text).toEqual(['de'])
      for (const text of ['москву', 'ПОЕЗДКА']) expect(await found(text), text).toEqual(['ru'])
      for (const text of ['οδος', 'οδοσ', 'Οδός'.normalize('NFD').replace('\u0301', '')])
        expect(await found(text), text).toEqual(['el'])
      for (const text of ['北京', '京 trip']) expect(await found(text), text).toEqual(['zh'])
      expect(await found('čeština')).toEqual(['named'])
      expect(await found('uber')).toEqual([])
    })

    test('has all of them on its pages, each once', async () => {
      await titled({ a: 'x1', b: 'y', c: 'x2', d: 'y', e: 'x3' })
      expect(await found('x', 1)).toEqual(['e', 'c', 'a'])
      expect(await found('x', 2)).toEqual(['e', 'c', 'a'])
    })

    test.each(['%', '_', '"', '\\', "'", '*', '早', '"a', 'a\u0000b', '👋'])(
      'takes %j as it is',
      async (text) => {
        await titled({ a: `before ${text} after`, b: 'other', c: text })
        expect(await found(text)).toEqual(['c', 'a'])
      },
    )

    test('finds threads of the owner alone', async () => {
      await rig.save(keyOf('a', { user: 'other' }), { title: 'secret' })
      expect(await found('secret')).toEqual([])
    })
  })

  describe('the pages of a list', () => {
    test.each([1, 2, 3, 4, 5, 6])('have every thread once with %i on each', async (limit) => {
      await saveInTurn('a', 'b', 'c', 'd', 'e')
      expect(await rest(limit)).toEqual(['e', 'd', 'c', 'b', 'a'])
    })

    test('have at most as many threads as asked for, and a cursor only when more follow', async () => {
      await saveInTurn('a', 'b', 'c', 'd')
      const first = await page(2)
      expect(names(first.threads)).toEqual(['d', 'c'])
      const second = await page(2, first.cursor)
      expect(names(second.threads)).toEqual(['b', 'a'])
      expect(second.cursor).toBeUndefined()
    })

    test('show no thread twice when threads are added or change in between', async () => {
      await saveInTurn('a', 'b', 'c', 'd', 'e', 'f')
      const { cursor } = await page(2)
      await saveInTurn('new', 'e', 'c')
      expect(await rest(2, cursor)).toEqual(['d', 'b', 'a'])
    })

    test('leave out none when threads are removed in between, also the one where a page has ended', async () => {
      await saveInTurn('a', 'b', 'c', 'd', 'e', 'f')
      const { cursor } = await page(2)
      await remove('e')
      await remove('f')
      await remove('c')
      expect(await rest(2, cursor)).toEqual(['d', 'b', 'a'])
    })

    test('may end because the rest was removed in between', async () => {
      await saveInTurn('a', 'b')
      const { cursor } = await page(1)
      await remove('a')
      expect(await page(1, cursor)).toEqual({ threads: [] })
    })

    test.each(['é"\\/:,|\u0000', '👋', '', 'x'.repeat(3_000), '%_', '["a"]'])(
      'can end at a thread with an odd id',
      async (odd) => {
        await saveInTurn('a', odd, 'b')
        expect(await rest(1)).toEqual(['b', odd, 'a'])
      },
    )

    test.each(['', 'x', '%%%', '[]', 'bnVsbA', 'e30', 'W10', 'WzEsMl0', 'WyJhIiwiYiJd', '-1', '__proto__'])(
      'have no place for the cursor %j that the store has not made',
      async (cursor) => {
        await saveInTurn('a')
        await expect(page(1, cursor)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
      },
    )
  })

  describe('idle threads', () => {
    const idle = async (before: number, limit = 100): Promise<string[]> =>
      names(await rig.store.threads.idle(before, limit))

    test('are those that have not changed since a time, the oldest first', async () => {
      await saveInTurn('a', 'b', 'c', 'd', 'a')
      const { updatedAt } = await rig.stored(keyOf('d'))
      expect(await idle(updatedAt)).toEqual(['b', 'c'])
      expect(await idle(updatedAt + 1)).toEqual(['b', 'c', 'd'])
      expect(await idle(0)).toEqual([])
    })

    test('are at most as many as asked for', async () => {
      await saveInTurn('a', 'b', 'c')
      expect(await idle(rig.clock.now() + 1, 2)).toEqual(['a', 'b'])
    })

    test('are found for all owners', async () => {
      await saveInTurn('a')
      await rig.clock.advance(1)
      await rig.save(keyOf('b', { user: 'other', app: 'other' }))
      expect(await idle(rig.clock.now() + 1)).toEqual(['a', 'b'])
    })

    test('are none that nothing was committed to', async () => {
      await rig.store.threads.begin(await rig.hold(keyOf('a')), runOf('r1'))
      expect(await idle(rig.clock.now() + 1)).toEqual([])
    })
  })
}
