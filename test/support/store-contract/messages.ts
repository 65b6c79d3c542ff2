import type { Message } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { keyOf, messagesOf, type Rig } from './rig.js'

const key = keyOf('thread')

const kinds: Message[] = [
  { id: 'u', role: 'user', content: [{ type: 'text', text: 'Schau: 你好 👋🏽' }] },
  {
    id: 'a',
    role: 'assistant',
    toolCalls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"\\u0000"}' } }],
  },
  { id: 't', role: 'tool', toolCallId: 'c', content: '', error: 'no' },
  { id: 's', role: 'system', content: '\u2028\n\t\\' },
  { id: 'x', role: 'activity', activityType: 'PLAN', content: { steps: [null, { done: false }] } },
]

/** The messages: what stays, what goes, what is added. */
export function describeMessages(rig: Rig): void {
  const ids = async (): Promise<string[]> => (await rig.stored(key)).messages.map(({ id }) => id)

  describe('the messages of a thread', () => {
    test.each([
      ['grow at the end', 3, ['d', 'e'], ['a', 'b', 'c', 'd', 'e']],
      ['stay when all are kept and none is added', 3, [], ['a', 'b', 'c']],
      ['are cut', 1, [], ['a']],
      ['get a new end', 2, ['x', 'y', 'z'], ['a', 'b', 'x', 'y', 'z']],
      ['get a new end that is shorter', 1, ['x'], ['a', 'x']],
      ['are replaced', 0, ['x'], ['x']],
      ['are emptied', 0, [], []],
      ['may have an id twice', 3, ['a'], ['a', 'b', 'c', 'a']],
    ])('%s', async (_, keep, append, expected) => {
      await rig.save(key, { append: messagesOf('a', 'b', 'c') })
      await rig.save(key, { keep, append: messagesOf(...append) })
      expect(await ids()).toEqual(expected)
    })

    test('are those of the last commit also when a cut end had more of them', async () => {
      await rig.save(key, { append: messagesOf('a', 'b', 'c', 'd') })
      await rig.save(key, { keep: 1, append: messagesOf('x') })
      await rig.save(key, { keep: 2, append: messagesOf('y') })
      expect(await ids()).toEqual(['a', 'x', 'y'])
    })

    test('cannot be kept when there are not so many', async () => {
      await rig.save(key, { append: messagesOf('a') })
      const before = await rig.stored(key)
      const change = { keep: 2, append: messagesOf('b'), title: 'New' }
      await expect(rig.save(key, change)).rejects.toMatchObject({ code: 'VERSION_CONFLICT' })
      expect(await rig.stored(key)).toEqual(before)
    })

    test('cannot be kept when there is no thread', async () => {
      await expect(rig.save(key, { keep: 1 })).rejects.toMatchObject({ code: 'VERSION_CONFLICT' })
      expect(await rig.store.threads.load(key)).toBeUndefined()
    })

    test('come back as they were, whatever kind they are of', async () => {
      expect((await rig.save(key, { append: kinds })).messages).toEqual(kinds)
    })

    test('come back as they were when many are added at once', async () => {
      const many = Array.from({ length: 1_200 }, (_, n) => ({
        ...{ id: `m${n}`, role: 'user' as const },
        content: `${n} \ud800 \u0000 "\\u0041" \u2028 1e400 你好 👋🏽`,
      }))
      expect((await rig.save(key, { append: [...kinds, ...many] })).messages).toEqual([...kinds, ...many])
    })

    test('stay in order when there are thousands', async () => {
      const many = Array.from({ length: 3_000 }, (_, index) => `m${index}`)
      await rig.save(key, { append: messagesOf(...many.slice(0, 1_500)) })
      await rig.save(key, { keep: 1_500, append: messagesOf(...many.slice(1_500)) })
      expect(await ids()).toEqual(many)
    })
  })

  test('a thread that was loaded stays as it was while the stored one changes', async () => {
    const first = await rig.save(key, { append: messagesOf('a', 'b'), state: { n: 1 } })
    const copy = structuredClone(first)
    await rig.save(key, { keep: 2, append: messagesOf('c'), state: { n: 2 } })
    await rig.save(key, { keep: 1, append: messagesOf('x'), title: 'New' })
    expect(first).toEqual(copy)
  })
}
